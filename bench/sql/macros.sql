-- Numbers that look random and are the same in every run: 0 to below - 1. Each
-- version of a day has its own.
create macro draw(person, day, what, below) as
    cast(
        hash(person, day, what, getvariable('version')) % below as bigint
    );

-- A name that is the same in every version: a day is restated by what is counted
-- of everyone anew, not by other people, models and languages.
create macro pick(names, person, day, what) as
    names[cast(hash(person, day, what) % len(names) as bigint) + 1];

create table people as
select
    n,
    format('user_{:08x}', n) as user_id,
    format('person.{}@acme.example', n) as user_email
from range({{ users }}) as numbers(n);
