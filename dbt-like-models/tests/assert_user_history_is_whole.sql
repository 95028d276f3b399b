-- Periods of a user that overlap, leave days out or change nothing, and users
-- without exactly one current period.
with

followed as (

    select
        *,
        lead(valid_from) over (
            partition by org_id, user_id
            order by valid_from
        ) as next_from
    from {{ ref('dim_user_history') }}

),

final as (

    select
        org_id,
        user_id,
        valid_from,
        valid_to,
        next_from,
        is_current
    from followed
    where
        valid_to is distinct from next_from
        or valid_to <= valid_from
        or is_current != (next_from is null)

)

select * from final
