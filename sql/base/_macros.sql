-- What the base statements share. Run once on each new connection, after
-- `_numbers.sql`.

-- Reads JSON text as a struct of the shape, in one pass. Fields that are missing
-- or of another kind are NULL. Never fails: any other text is NULL.
create or replace temp macro read_json_text(item, shape) as
    try(from_json(exact(item, ''), shape));

-- Reads an item as served, even with lone surrogates; `exact` is called before.
-- Only one reader: a second one would take as long, even if the first one leaves
-- nothing to read.
create or replace temp macro read_item(item, shape) as
    try(from_json(with_plain_halves(item), shape));

-- An id, or NULL if there is none. The models' placeholder for a missing id is not
-- an id either, so that the two never collide.
create or replace temp macro named(served) as
    nullif(nullif(served, ''), '(unattributed)');

-- Normalises to NFC, and trims white space of any script.
create or replace temp macro trimmed(served) as
    regexp_replace(
        nfc_normalize(served),
        '^[\s\p{Z}\x{0B}\x{85}\x{FEFF}]+|[\s\p{Z}\x{0B}\x{85}\x{FEFF}]+$',
        '',
        'g'
    );

-- Unicode case folding, as near as lower(upper()) comes: it makes long s an s
-- and both sigmas one. By hand: 304 is the dotted I and 305 the dotless i (replaced
-- by 57344 in between), 223 is the sharp s, and 64256 to 64262 are
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

-- Whether a spelling is a tool's name; the platform's parser also leaves others. The
-- length is a condition of its own because a counted repetition takes 0.3 s to compile.
create or replace temp macro is_tool_name(served) as
    coalesce(
        length(trimmed(served)) <= 128
        and regexp_full_match(
            trimmed(served),
            '[\p{L}_][\p{L}\p{N}_.:/@-]*'
        ),
        false
    );

-- The name that a spelling may mean: itself if it is clean, else the name that
-- follows its quotes, white space and markup. NULL if there is none.
create or replace temp macro tool_key(served) as
    case
        when is_tool_name(served) then trimmed(served)
        else nullif(rtrim(regexp_extract(
            trimmed(served),
            '^(?:<[^<>]*>|[^\p{L}\p{N}_])*([\p{L}_][\p{L}\p{N}_.:/@-]*)',
            1
        ), '.:/@-'), '')
    end;

-- true and false, also as text.
create or replace temp macro to_boolean(served) as
    case served when 'true' then true when 'false' then false end;

-- Reads microseconds as a time after 1970 and before the year 10000.
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

-- A Unix time whose unit is not documented and is inferred from its size: seconds,
-- milliseconds, microseconds or nanoseconds.
create or replace temp macro from_epoch(served) as
    case
        when to_ratio(served) < 1e11
        then at_micros(try_cast(round(to_ratio(served) * 1e6) as bigint))
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

-- The step that a key of an object adds to the path of a setting.
create or replace temp macro settings_step(path, key) as
    case
        when not regexp_full_match(key, '[A-Za-z_][A-Za-z0-9_-]*')
        then '[' || cast(to_json(key) as varchar) || ']'
        when path = '' then key
        else '.' || key
    end;

-- The name of an object in a list: its id, its model, the location of a marketplace
-- or its own name. NULL if it has none of these.
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

-- Names in a list: a repeated name gets its number, and an object without a name
-- its position.
create or replace temp macro settings_names(names) as
    list_transform(names, lambda name, place: case
        when name is null then cast(place - 1 as varchar)
        when list_position(names, name) = place then name
        else name || '#' || cast(len(list_filter(
            list_slice(names, 1, place), lambda other: other = name
        )) as varchar)
    end);

-- The children of a node of the settings, each with its step of the path. NULL for
-- a leaf: a list is a leaf, unless it contains only objects.
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
    end
