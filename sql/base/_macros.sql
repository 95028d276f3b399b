-- What the base statements share. Run once on a connection, after a view `raw`
-- and before any of them.
--
-- Each statement reads the items first and picks the newest row of a day after
-- that: one item can be megabytes long (`by_user` of a large organisation), and
-- a window or a join before the reader would hold a month of them at once.

-- A count. 12, 12.0, "12", "12.0" are 12 and 1e3 is 1000; integers stay exact;
-- a fraction is rounded. Text that is no number, true and {} are NULL. The
-- pattern comes first because a cast alone takes 1_000 and 0x1F for numbers.
create or replace temp macro to_count(served) as
    case
        when regexp_full_match(served, '[-+ .0-9eE]+')
        then try_cast(served as bigint)
    end;

-- A ratio or a share, under the same rules. 1e999 is NULL, not infinity.
create or replace temp macro to_ratio(served) as
    case
        when
            regexp_full_match(served, '[-+ .0-9eE]+')
            and isfinite(try_cast(served as double))
        then try_cast(served as double)
    end;

-- JSON text that JavaScript reads and DuckDB does not: half a surrogate pair
-- becomes \ufffd. Escaped backslashes and whole pairs hide behind control
-- characters meanwhile, which JSON text cannot contain.
create or replace temp macro mended(item) as
    replace(replace(
        regexp_replace(
            regexp_replace(
                replace(item, '\\', chr(1)),
                '\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})',
                chr(2) || '\1' || chr(2) || '\2',
                'gi'
            ),
            '\\u(d[89a-f][0-9a-f]{2})',
            '\\ufffd',
            'gi'
        ),
        chr(2), '\u'), chr(1), '\\'
    );

-- An item as a struct of the shape, in one pass; what is missing or of another
-- kind is NULL. Never fails: an item that cannot be read is NULL as a whole.
create or replace temp macro read_item(item, shape) as
    coalesce(
        try(from_json(item, shape)),
        try(from_json(mended(item), shape))
    );

-- An id, or NULL where there is none. What the models write for a missing one is
-- no id either, so that the two never meet.
create or replace temp macro named(served) as
    nullif(nullif(served, ''), '(unattributed)');

-- NFC, and no white space of any script at either end.
create or replace temp macro trimmed(served) as
    regexp_replace(
        nfc_normalize(served),
        '^[\s\p{Z}\x{0B}\x{85}\x{FEFF}]+|[\s\p{Z}\x{0B}\x{85}\x{FEFF}]+$',
        '',
        'g'
    );

-- Unicode case folding, as near as lower(upper()) comes: it makes long s an s
-- and both sigmas one. By hand: 304 is the dotted I and 305 the dotless i (for
-- which 57344 stands in meanwhile), 223 is the sharp s, and 64256 to 64262 are
-- the ligatures from ff to st.
create or replace temp macro case_folded(served) as
    replace(replace(replace(replace(replace(replace(replace(replace(replace(
        lower(upper(replace(replace(
            served,
            chr(304), 'i' || chr(775)),
            chr(305), chr(57344)))),
        chr(57344), chr(305)),
        chr(223), 'ss'),
        chr(64256), 'ff'),
        chr(64257), 'fi'),
        chr(64258), 'fl'),
        chr(64259), 'ffi'),
        chr(64260), 'ffl'),
        chr(64261), 'st'),
        chr(64262), 'st'
    );

-- One key for all spellings of a name.
create or replace temp macro folded(served) as
    nfc_normalize(case_folded(trimmed(served)));

-- Whether a spelling is a tool's name; the platform's parser leaves others. The
-- length stands apart because a counted repetition takes 0.3 s to compile.
create or replace temp macro is_tool_name(served) as
    coalesce(
        length(trimmed(served)) <= 128
        and regexp_full_match(
            trimmed(served),
            '[\p{L}_][\p{L}\p{N}_.:/@-]*'
        ),
        false
    );

-- The name a spelling may stand for: itself where clean, else the name that
-- follows its quotes, white space and markup. NULL where there is none.
create or replace temp macro tool_key(served) as
    case
        when is_tool_name(served) then trimmed(served)
        else nullif(rtrim(regexp_extract(
            trimmed(served),
            '^(?:<[^<>]*>|[^\p{L}\p{N}_])*([\p{L}_][\p{L}\p{N}_.:/@-]*)',
            1
        ), '.:/@-'), '')
    end;

-- A sum of digests of rows, which is a digest of the rows whatever their order,
-- as 12 characters: as many as DuckDB holds without a further allocation.
create or replace temp macro digest_text(summed) as
    lpad(to_hex(summed % 281474976710656), 12, '0');

-- Where the row of a day stands that counts: an API that sends a day twice
-- means the later one.
create or replace temp macro newest_rows() as table
    select
        org_id,
        activity_date,
        page,
        ordinal
    from raw
    qualify row_number() over (
        partition by org_id, activity_date
        order by page desc, ordinal desc
    ) = 1;
