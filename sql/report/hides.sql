-- Whether the report leaves out the figure of one of several groups that add up to a known
-- total: it has fewer than five users, or those before it, in ascending order, have fewer than
-- five people between them, so that subtracting all others from the total would tell about
-- these. `people` counts a person who is in several groups only once in all of them.
create or replace temp macro hides(total, users, people, name) as
    users < 5
    or (
        min(users) over (partition by total) < 5
        and coalesce(
            sum(people) over (
                partition by total
                order by users, name
                rows between unbounded preceding and 1 preceding
            ),
            0
        ) < 4.999
    )
