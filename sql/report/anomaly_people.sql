-- The 100 user days of the last 28 days that are farthest from usual. Only with --people.
select
    org_id,
    cast(activity_date as varchar) as day,
    coalesce(user_label, user_id) as person,
    cast(value as double) as billable_tokens,
    cast(usual_low as double) as usual_low,
    cast(usual_high as double) as usual_high,
    round(score, 1) as score
from main.mart_anomalies
inner join chosen using (org_id)
left join main.dim_user using (org_id, user_id)
where scope = 'user' and names_people and activity_date > last_day - 28
qualify
    row_number() over (
        partition by org_id
        order by abs(score) desc, activity_date, user_id
    ) <= 100
order by org_id, activity_date desc, abs(score) desc
