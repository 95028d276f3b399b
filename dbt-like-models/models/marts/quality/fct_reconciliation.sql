-- How far a difference is from its usual one. The days before are joined, not
-- windowed: not every engine has a median over a window.
with

sides as (

    select
        *,
        case
            when difference is null then null
            when difference = 0 then 0
            else difference / greatest(abs(expected), abs(actual))
        end as relative_difference
    from {{ ref('int_reconciliation_sides') }}

),

-- What agrees needs no past.
differing as (

    select * from sides
    where relative_difference != 0

),

past as (

    select
        differing.check_name,
        differing.org_id,
        differing.activity_date,
        earlier.relative_difference
    from differing
    inner join sides as earlier
        on differing.check_name = earlier.check_name
        and differing.org_id = earlier.org_id
        and earlier.activity_date >= differing.activity_date - 28
        and earlier.activity_date < differing.activity_date
    where earlier.relative_difference is not null

),

usual as (

    select
        check_name,
        org_id,
        activity_date,
        median(relative_difference) as relative_difference
    from past
    group by 1, 2, 3

),

spreads as (

    select
        past.check_name,
        past.org_id,
        past.activity_date,
        median(
            abs(past.relative_difference - usual.relative_difference)
        ) as spread
    from past
    inner join usual
        on past.check_name = usual.check_name
        and past.org_id = usual.org_id
        and past.activity_date = usual.activity_date
    group by 1, 2, 3

),

judged as (

    select
        sides.check_name,
        sides.org_id,
        sides.activity_date,
        sides.comparison,
        sides.expected,
        sides.actual,
        sides.difference,
        sides.relative_difference,
        usual.relative_difference as usual_relative_difference,
        case
            when usual.relative_difference = 0 and spreads.spread = 0 then 0
            else greatest(6 * spreads.spread, 0.01)
        end as tolerance
    from sides
    left join usual
        on sides.check_name = usual.check_name
        and sides.org_id = usual.org_id
        and sides.activity_date = usual.activity_date
    left join spreads
        on sides.check_name = spreads.check_name
        and sides.org_id = spreads.org_id
        and sides.activity_date = spreads.activity_date

),

final as (

    select
        check_name,
        org_id,
        activity_date,
        comparison,
        expected,
        actual,
        difference,
        relative_difference,
        usual_relative_difference,
        case
            when difference is null then 'missing'
            when difference = 0 then 'ok'
            when usual_relative_difference is null then 'baseline'
            when
                abs(relative_difference - usual_relative_difference)
                <= tolerance
            then 'baseline'
            else 'changed'
        end as status
    from judged

)

select * from final
