-- What changed with a rollout, a training or another event?
-- Compares the four whole weeks before the event with the four after it, for
-- the affected teams and for the others. The difference of the two changes
-- estimates the effect of the event, if both groups would have developed alike
-- without it. Groups of fewer than five users have no numbers, and an event for
-- every team has no group to compare with. The result is empty if
-- seeds/events.csv has no event, or if the weeks are not complete.
select
    org_id,
    event_date,
    event_name,
    coalesce(team, '(every team)') as team,
    metric,
    round(affected_before, 3) as affected_before,
    round(affected_after, 3) as affected_after,
    round(affected_change, 3) as affected_change,
    round(unaffected_change, 3) as unaffected_change,
    round(change_difference, 3) as change_difference
from main.mart_event_effect
where affected_before is not null
    or affected_after is not null
order by 1, 2 desc, 3, 4, 5
