-- How base reads numbers. Run once on a connection.

-- The digits of a number in text, without its point and its exponent.
create or replace temp macro digits_of(served) as
    replace(regexp_extract(served, '[0-9.]+'), '.', '');

-- How many digits behind the point a number in text needs: 2 for 1.250 and for 125e-2,
-- -3 for 1000. They are counted in the text, because a decimal, or a double, would
-- round some of them away.
create or replace temp macro decimal_places(served) as
    case
        when regexp_full_match(digits_of(served), '0*') then 0
        else
            length(regexp_extract(served, '[.]([0-9]*)', 1))
            - length(regexp_extract(digits_of(served), '0*$'))
            - coalesce(
                try_cast(regexp_extract(served, '[eE](.*)', 1) as double), 0
            )
    end;

-- Reads a count: 12, 12.0, "12" and "12.0" are 12, and 1e3 is 1000; integers stay
-- exact. Fractions, other text, true, {} and numbers that do not fit are NULL.
-- A cast alone accepts 1_000 and 0x1F, but does not spell them like that.
create or replace temp macro to_count(served) as
    case
        when cast(try_cast(served as bigint) as varchar) = served
        then try_cast(served as bigint)
        when
            regexp_full_match(served, '[-+ .0-9eE]+')
            and decimal_places(served) <= 0
        then try_cast(served as bigint)
    end;

-- Reads credits to the sixth digit after the point. Longer ones are rounded, and
-- reported: NULL would remove all credits of a user or model from every sum, and
-- rounding changes them by less than a millionth. With more than 22 digits before the
-- point, they are NULL. The common spelling comes first because a cast to a wide
-- decimal takes 90 times as long. Others are read with 16 decimal places first, because
-- DuckDB casts 6e-8 to 0.000001: it rounds by the first digit, whatever the exponent.
create or replace temp macro to_credits(served) as
    case
        when regexp_full_match(served, '-?[0-9]{1,12}([.][0-9]{1,6})?')
        then cast(try_cast(served as decimal(18, 6)) as decimal(28, 6))
        when regexp_full_match(served, '[-+ .0-9eE]+')
        then try_cast(try_cast(served as decimal(38, 16)) as decimal(28, 6))
    end;

-- Whether credits are read to the last digit that was served.
create or replace temp macro is_exact_credits(served) as
    case
        when regexp_full_match(served, '-?[0-9]{1,12}([.][0-9]{1,6})?') then true
        else to_credits(served) is not null and decimal_places(served) <= 6
    end;

-- Credits as text, without zeros at the end.
create or replace temp macro credits_text(credits) as
    regexp_replace(
        cast(cast(credits as decimal(38, 6)) as varchar), '[.]?0+$', ''
    );

-- A sum of counts, NULL where it does not fit.
create or replace temp macro sum_of_counts(counts) as
    try_cast(sum(counts) as bigint);

-- Reads a ratio or a share, by the same rules. 1e999 is NULL, not infinity.
create or replace temp macro to_ratio(served) as
    case
        when
            regexp_full_match(served, '[-+ .0-9eE]+')
            and isfinite(try_cast(served as double))
        then try_cast(served as double)
    end;

-- The item with every number that has a point or an exponent as text, because
-- the reader of JSON makes a double of it: 9007199254740993.0 would be another
-- number. `mark` is put in front of each. Strings are matched first, so that
-- what looks like a number in them stays; control characters, which JSON text
-- cannot contain, mark which of the two was matched.
create or replace temp macro numbers_as_text(item, mark) as
    replace(replace(replace(
        regexp_replace(
            item,
            '("(?:[^"\\]|\\.)*")|(-?[0-9]+[.eE][-+.0-9eE]*)',
            '\1' || chr(1) || '\2' || chr(2),
            'g'
        ),
        chr(1) || chr(2), ''), chr(1), '"' || mark), chr(2), '"');

-- Whether a number in the item may have more than the 15 digits that a double holds,
-- or may differ from one with six digits behind the point by less than it shows.
create or replace temp macro has_long_numbers(item) as
    regexp_matches(
        item,
        '[0-9]{9}[.][0-9]{7}|[0-9.]{16}[eE]|[.][0-9]{6}[09]'
        || '|[0-9]{10}[.][0-9]{6}|[0-9]{11}[.][0-9]{5}|[0-9]{12}[.][0-9]{4}'
        || '|[0-9]{13}[.][0-9]{3}|[0-9]{14}[.][0-9]{2}|[0-9]{15}[.][0-9]'
    );

-- The item with its numbers as text, where some may be long.
create or replace temp macro exact(item, mark) as
    case
        when has_long_numbers(item) then numbers_as_text(item, mark)
        else item
    end
