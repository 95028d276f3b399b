-- Items that come back from a shape as they were served have its fields in its order,
-- each as documented where it is; and what a shape does not show is as it should be.
select
    * exclude (alike, read, served),
    case
        when alike is not null then alike
        when served is not null and {{ conditions }} then {{ alike }}
    end as alike
from (
    select
        *,
        case
            when read is null then null
            when cast(to_json(read) as varchar) = item then item
            when cast(to_json(read) as varchar) = respelled(item)
            then respelled(item)
        end as served
    from (
        select
            *,
            case when alike is null then try(from_json(item, {{ shape }})) end
                as read
        from (
{{ items }}
        ) as items
    ) as items_read
) as items_compared
