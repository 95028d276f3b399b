-- How far a difference is from the usual one. The days before are joined,
-- because not every engine has a median over a window.
{% set day = 'check_name, org_id, activity_date' %}

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

-- Rows without a difference need no history.
past as (

    select
        differing.check_name,
        differing.org_id,
        differing.activity_date,
        earlier.relative_difference
    from sides as differing
    inner join sides as earlier
        on differing.check_name = earlier.check_name
        and differing.org_id = earlier.org_id
        and earlier.activity_date
        >= differing.activity_date - {{ var('usual_days') }}
        and earlier.activity_date < differing.activity_date
    where
        differing.relative_difference != 0
        and earlier.relative_difference is not null

),

usual as (

    select
        {{ day }},
        median(relative_difference) as usual_relative_difference
    from past
    group by 1, 2, 3

),

spreads as (

    select
        {{ day }},
        median(
            abs(past.relative_difference - usual.usual_relative_difference)
        ) as spread
    from past
    inner join usual using ({{ day }})
    group by 1, 2, 3

),

judged as (

    select
        {{ day }},
        sides.comparison,
        sides.expected,
        sides.actual,
        sides.difference,
        sides.relative_difference,
        usual.usual_relative_difference,
        case
            when usual.usual_relative_difference = 0 and spreads.spread = 0
            then 0
            else greatest(
                {{ var('usual_spreads') }} * spreads.spread,
                {{ var('usual_difference') }}
            )
        end as tolerance
    from sides
    left join usual using ({{ day }})
    left join spreads using ({{ day }})

),

final as (

    select
        {{ day }},
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
