-- Whether the report leaves out the figure of one of several groups that add up
-- to a known total: it has fewer than five users, or the groups before it in
-- ascending order have fewer than five people in total, so that subtracting all
-- others from the total would reveal them. `people` counts a person in several
-- groups only once over all of them.
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
