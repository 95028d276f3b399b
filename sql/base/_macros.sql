-- What the base statements share. Run once on a connection, after a view `raw`
-- and before any of them.
--
-- Each statement reads the items first and picks the newest row of a day after
-- that: one item can be megabytes long (`by_user` of a large organisation), and
-- a window or a join before the reader would hold a month of them at once.

-- A count. 12, 12.0, "12", "12.0" are 12 and 1e3 is 1000; integers stay exact.
-- A fraction, text that is no number, true, {} and what does not fit are NULL.
-- The patterns come first because a cast alone takes 1_000 and 0x1F for numbers.
-- A decimal finds the fractions that a double rounds away, a double those that
-- a decimal does.
create or replace temp macro to_count(served) as
    case
        when regexp_full_match(served, '-?[0-9]{1,18}')
        then try_cast(served as bigint)
        when
            regexp_full_match(served, '[-+ .0-9eE]+')
            and try_cast(served as decimal(38, 18))
            = try_cast(served as bigint)
            and try_cast(served as double) = trunc(try_cast(served as double))
        then try_cast(served as bigint)
    end;

-- Credits, up to six digits behind the point and 22 before it. What has more is
-- NULL, unless it is what adding doubles leaves (0.30000000000000004): that is
-- read to the sixth digit, and reported. The common spelling comes first because
-- a cast to a wide decimal takes 90 times as long.
create or replace temp macro to_credits(served) as
    case
        when regexp_full_match(served, '-?[0-9]{1,12}([.][0-9]{1,6})?')
        then cast(try_cast(served as decimal(18, 6)) as decimal(28, 6))
        when
            regexp_full_match(served, '[-+ .0-9eE]+')
            and abs(
                try_cast(served as decimal(38, 15))
                - try_cast(served as decimal(28, 6))
            ) <= greatest(1e-8, 4e-16 * abs(try_cast(served as double)))
        then try_cast(served as decimal(28, 6))
    end;

-- Whether credits are read to the last digit that was served.
create or replace temp macro is_exact_credits(served) as
    regexp_full_match(served, '-?[0-9]{1,12}([.][0-9]{1,6})?')
    or coalesce(
        try_cast(served as decimal(38, 15)) = to_credits(served)
        and try_cast(served as double) = cast(to_credits(served) as double),
        false
    );

-- Credits as text, without zeros at the end.
create or replace temp macro credits_text(credits) as
    regexp_replace(
        cast(cast(credits as decimal(38, 6)) as varchar), '[.]?0+$', ''
    );

-- A sum of counts, NULL where it does not fit.
create or replace temp macro sum_of_counts(counts) as
    try_cast(sum(counts) as bigint);

-- A ratio or a share, under the same rules. 1e999 is NULL, not infinity.
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
-- what looks like a number in them stays; the control characters, which JSON
-- text cannot contain, tell the two apart.
create or replace temp macro numbers_as_text(item, mark) as
    replace(replace(replace(
        regexp_replace(
            item,
            '("(?:[^"\\]|\\.)*")|(-?[0-9]+[.eE][-+.0-9eE]*)',
            '\1' || chr(1) || '\2' || chr(2),
            'g'
        ),
        chr(1) || chr(2), ''), chr(1), '"' || mark), chr(2), '"');

-- The same, where a number is longer than a double holds. The looser pattern is
-- the faster one.
create or replace temp macro exact(item, mark) as
    case
        when regexp_matches(item, '[0-9]{10}[.]|[0-9.]{16}[eE]')
        then numbers_as_text(item, mark)
        else item
    end;

-- An item as a struct of the shape, in one pass; what is missing or of another
-- kind is NULL. Never fails: an item that cannot be read is NULL as a whole.
create or replace temp macro read_item(item, shape) as
    coalesce(
        try(from_json(exact(item, ''), shape)),
        try(from_json(mended(exact(item, '')), shape))
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

-- true and false, also as text.
create or replace temp macro to_boolean(served) as
    case served when 'true' then true when 'false' then false end;

-- A time of ISO 8601; without a zone it is UTC.
create or replace temp macro to_time(served) as
    case
        when regexp_matches(served, '^\d{4}-\d{2}-\d{2}')
        then try_cast(served as timestamptz)
    end;

-- A time after 1970 and before the year 10000, of microseconds.
create or replace temp macro at_micros(micros) as
    case
        when micros between 0 and 253402300799999999
        then make_timestamptz(micros)
    end;

-- A Unix time in milliseconds, which may have a fraction.
create or replace temp macro from_ms(served) as
    at_micros(coalesce(
        try(to_count(served) * 1000),
        try_cast(round(to_ratio(served) * 1000) as bigint)
    ));

-- A Unix time of which the unit is not documented, told by its size: seconds,
-- milliseconds, microseconds or nanoseconds.
create or replace temp macro from_epoch(served) as
    case
        when to_ratio(served) < 1e11
        then at_micros(cast(round(to_ratio(served) * 1e6) as bigint))
        when to_ratio(served) < 1e14 then from_ms(served)
        when to_ratio(served) < 1e17
        then at_micros(try_cast(round(to_ratio(served)) as bigint))
        else at_micros(coalesce(
            to_count(served), try_cast(to_ratio(served) as bigint)
        ) // 1000)
    end;

-- The id after `/<collection>/` in the path of a request.
create or replace temp macro asked_for(request, collection) as
    nullif(url_decode(regexp_extract(
        request,
        '^[^?#]*/' || collection || '/([^/?#]+)',
        1
    )), '');

-- The names of tags, each once, in order.
create or replace temp macro tag_list(tags) as
    array_to_string(list_sort(list_distinct(list_transform(
        tags, lambda tag: nullif(tag.name, '')
    ))), ',');

-- How a key of an object is told in the path of a setting.
create or replace temp macro settings_step(path, key) as
    case
        when not regexp_full_match(key, '[A-Za-z_][A-Za-z0-9_-]*')
        then '[' || cast(to_json(key) as varchar) || ']'
        when path = '' then key
        else '.' || key
    end;

-- What an object in a list is called: by its id or its model, a marketplace by
-- where it is. NULL where it has none of these.
create or replace temp macro settings_name(node) as
    coalesce(
        nullif(node ->> '$.id', ''),
        nullif(node ->> '$.model', ''),
        nullif(concat_ws(
            ':',
            node ->> '$.source',
            node ->> '$.repo',
            node ->> '$.url',
            node ->> '$.path'
        ), ''),
        nullif(node ->> '$.name', '')
    );

-- Of names in a list, the second of a kind is told by its number, and what has
-- no name by its place.
create or replace temp macro settings_names(names) as
    list_transform(names, lambda name, place: case
        when name is null then cast(place - 1 as varchar)
        when list_position(names, name) = place then name
        else name || '#' || cast(len(list_filter(
            list_slice(names, 1, place), lambda other: other = name
        )) as varchar)
    end);

-- What is below a node of the settings, each with its step of the path. NULL
-- for a leaf: a list is one, unless it is of objects alone.
create or replace temp macro settings_below(path, node) as
    case json_type(node)
        when 'OBJECT' then list_transform(
            map_entries(from_json(node, '"MAP(VARCHAR, JSON)"')),
            lambda entry: {
                'step': settings_step(path, entry.key),
                'node': entry.value
            }
        )
        when 'ARRAY' then case
            when list_unique(json_extract(node, '$[*]').list_transform(
                lambda element: json_type(element)
            )) = 1 and json_type(node, '$[0]') = 'OBJECT'
            then list_transform(
                list_zip(
                    settings_names(list_transform(
                        json_extract(node, '$[*]'),
                        lambda element: settings_name(element)
                    )),
                    json_extract(node, '$[*]')
                ),
                lambda pair: {'step': '[' || pair[1] || ']', 'node': pair[2]}
            )
        end
    end;

-- Documented lists in which the order has no meaning.
create or replace temp macro is_settings_set(path) as
    regexp_full_match(
        path,
        'command(Allow|Deny)list'
        || '|(managed|byom)ComputersAllowedEmails'
        || '|modelPolicy\.((allowed|blocked)ModelIds|allowedBaseUrls)'
        || '|userModelPolicies.*\.(allowed|blocked)ModelIds'
        || '|mcpPolicy\.allowlist'
        || '|missionPolicy\.allowedUserIds'
        || '|networkPolicy\.allowedIps'
        || '|sandbox\.filesystem\.(allow|deny)(Read|Write)'
        || '|sandbox\.network\.(allowedDomains|allowUnixSockets)'
    );

-- A list as JSON, its elements each once and in order; anything else as it is.
create or replace temp macro sorted_set(node) as
    case
        when json_type(node) = 'ARRAY'
        then '[' || array_to_string(list_sort(list_distinct(list_transform(
            json_extract(node, '$[*]'),
            lambda element: cast(element as varchar)
        ))), ',') || ']'
        else cast(node as varchar)
    end;

-- Every session of a day as it was served last, with all that is read of it.
create or replace temp macro latest_sessions() as table (
    with

    served as (

        select
            org_id,
            activity_date,
            page,
            ordinal,
            asked_for(request, 'sessions') as asked,
            read_item(item, '{
                "sessionId": "VARCHAR",
                "status": "VARCHAR",
                "messageCount": "VARCHAR",
                "createdAt": "VARCHAR",
                "updatedAt": "VARCHAR",
                "completedAt": "VARCHAR",
                "title": "VARCHAR",
                "computerId": "VARCHAR",
                "sessionSettings": {
                    "model": "VARCHAR",
                    "specModeModel": "VARCHAR",
                    "assistantActiveTimeMs": "VARCHAR",
                    "tokenUsage": {
                        "inputTokens": "VARCHAR",
                        "outputTokens": "VARCHAR",
                        "cacheCreationTokens": "VARCHAR",
                        "cacheReadTokens": "VARCHAR",
                        "thinkingTokens": "VARCHAR",
                        "serviceCredits": "VARCHAR"
                    },
                    "inclusiveTokenUsage": {
                        "inputTokens": "VARCHAR",
                        "outputTokens": "VARCHAR",
                        "cacheCreationTokens": "VARCHAR",
                        "cacheReadTokens": "VARCHAR",
                        "thinkingTokens": "VARCHAR",
                        "serviceCredits": "VARCHAR"
                    },
                    "childInclusiveTokenUsageBySessionId": "MAP(VARCHAR, VARCHAR)",
                    "archivedAt": "VARCHAR",
                    "tags": [{"name": "VARCHAR"}]
                }
            }') as session,
            fetched_at
        from raw

    ),

    named_sessions as (

        select
            *,
            coalesce(nullif(session.sessionId, ''), asked) as session_id
        from served

    ),

    latest as (

        select * from named_sessions
        qualify session_id is null or row_number() over (
            partition by org_id, activity_date, session_id
            order by fetched_at desc, page desc, ordinal desc
        ) = 1

    )

    select * from latest
);
