-- What changed with a rollout, a training or another event?
-- The four whole weeks before it against the four after, for the teams that it
-- concerns and for the others; the difference of the two changes is what the
-- event may have done, where both would have gone alike without it. Groups of
-- fewer than five users have no numbers, and an event for every team has
-- nothing to compare with.
-- Empty where seeds/events.csv has no event, and where the weeks are not there.
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
