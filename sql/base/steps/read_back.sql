-- Items that come back from a shape as they were served have its fields in its order,
-- each as documented where it is; and what a shape does not show is as it should be.
-- What few items need is asked of NULL for the others: the engine would work it out
-- for all.
select
    * exclude (alike, known, read, told, other, spelled, served, is_alike),
    case when is_alike then {{ alike }} else alike end as alike,
    case
        when is_alike and with_plain_halves(item) = item then {{ item }}
        else known
    end as known
from (
    select
        *,
        respelled(other) as spelled,
        case when told = spelled then spelled when other is null then item end
            as served,
        coalesce(read is not null and served is not null and {{ conditions }}, false)
            as is_alike
    from (
        select
            *,
            cast(to_json(read) as varchar) as told,
            case when told <> item then item end as other
        from (
            select
                *,
                case when alike is null then try(from_json(item, {{ shape }})) end
                    as read
            from (
{{ items }}
            ) as items
        ) as items_read
    ) as items_told
) as items_compared
