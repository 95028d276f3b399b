-- Items that come back letter by letter from a shape have its fields in its order,
-- each as documented where it is; and what a shape does not show is as it should be.
select
    * exclude (alike, read),
    case
        when alike is not null then alike
        when cast(to_json(read) as varchar) = item and {{ conditions }}
        then {{ alike }}
    end as alike
from (
    select
        *,
        case when alike is null then try(from_json(item, {{ shape }})) end as read
    from (
{{ items }}
    ) as items
) as items_read
