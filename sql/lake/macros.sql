-- Reads an ISO 8601 time; UTC if it has no zone. The engine reads no zone after a time
-- without seconds, as Java writes every whole minute.
create or replace temp macro to_time(served) as
    case
        when regexp_matches(served, '^\d{4}-\d{2}-\d{2}')
        then try_cast(regexp_replace(
            served, '^(.{10}.\d{2}:\d{2})([Z+-])', '\1:00\2'
        ) as timestamptz)
    end;

-- Makes JSON text that JavaScript reads readable for DuckDB: half of a
-- surrogate pair becomes its own escape, as text, after a replacement character
-- (`\ufffd\ud800`), so that different texts stay different. In between, escaped
-- backslashes, whole pairs and the halves are marked by control characters,
-- which JSON text cannot contain. (`array_to_string` would bind its list twice.)
create or replace temp macro with_escaped_halves(item) as
    replace(replace(
        list_aggregate(list_transform(
            string_split(
                regexp_replace(
                    regexp_replace(
                        regexp_replace(
                            replace(item, '\\', chr(1)),
                            '\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})',
                            chr(2) || '\1' || chr(2) || '\2',
                            'gi'
                        ),
                        '\\u(d[89a-f][0-9a-f]{2})',
                        chr(3) || '\1',
                        'gi'
                    ),
                    '((?:\x{fffd}|\\ufffd)+)(\x01|\x03|\\u005c)',
                    '\1\1\2',
                    'gi'
                ),
                chr(3)
            ),
            lambda piece, place: case
                when place = 1 then piece
                else concat('\ufffd\\u', lower(left(piece, 4)), substr(piece, 5))
            end
        ), 'string_agg', ''),
        chr(2), '\u'), chr(1), '\\'
    );

-- Whether a half, or the spelling of one, may stand in the item.
create or replace temp macro may_have_halves(item) as
    contains(item, '\')
    and regexp_matches(item, '(?i)(?:\x{fffd}|\\ufffd)\\');

-- JSON text that DuckDB reads, whatever halves its strings contain, and in
-- which no other text equals the spelling of a half. Only items with a
-- backslash are changed; text that is not JSON stays as it is.
create or replace temp macro with_plain_halves(item) as
    case
        when
            not may_have_halves(item)
            and (json_valid(item) or not contains(item, '\'))
        then item
        else with_escaped_halves(item)
    end;

-- The same, but NULL for an item that is not JSON. The escaped text stands here
-- once, because binding its macro takes a millisecond.
create or replace temp macro readable(item) as
    case
        when json_valid(item) and not may_have_halves(item) then item
        when contains(item, '\')
        then cast(try(cast(with_escaped_halves(item) as json)) as varchar)
    end
