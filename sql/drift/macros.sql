-- The JSON types that a documented type accepts.
create or replace temp macro accepted_types(expected) as
    case expected
        when 'integer' then ['UBIGINT', 'BIGINT', 'DOUBLE']
        when 'decimal' then ['UBIGINT', 'BIGINT', 'DOUBLE']
        when 'number' then ['UBIGINT', 'BIGINT', 'DOUBLE']
        when 'string' then ['VARCHAR']
        when 'boolean' then ['BOOLEAN']
        when 'array' then ['ARRAY']
        else ['OBJECT']
    end;

-- Whether JSON text is a number or null: 4 and 4.0 are, "4" is not.
create or replace temp macro is_number(served) as
    coalesce(cast(served as varchar), 'null') = 'null'
    or coalesce(isfinite(try_cast(cast(served as varchar) as double)), false);

-- Whether JSON text is null or credits that are read to the last digit.
create or replace temp macro is_credits(served) as
    coalesce(cast(served as varchar), 'null') = 'null'
    or is_exact_credits(cast(served as varchar));

-- A type of JSON in the words of the specification.
create or replace temp macro type_name(type) as
    case
        when type = 'VARCHAR' then 'string'
        when type = 'DOUBLE' then 'number'
        when type like '%INT' then 'integer'
        else lower(type)
    end;

-- The name to report for an undocumented field: its own if it looks like the name of
-- a field. Anything else may be a person's name, an address or a token: `*`.
create or replace temp macro field_name(key) as
    case
        when
            regexp_full_match(key, '[A-Za-z_][A-Za-z0-9_]{0,39}')
            and length(regexp_replace(key, '[^0-9]', '', 'g')) <= 3
        then key
        else '*'
    end;

-- The place of an item in its day, with room for those of the objects within it.
create or replace temp macro item_place(page, ordinal) as
    (page * 1000000 + ordinal) * 10000000;

-- The item as the engine itself writes JSON: without white space, and each character
-- that JSON can hold as it is. NULL where that may lose digits.
create or replace temp macro respelled(item) as
    case
        when not has_long_numbers(item) then cast(try(json(item)) as varchar)
    end;

-- Whether a number in the item may have 17 digits or more.
create or replace temp macro has_large_numbers(item) as
    regexp_matches(
        item,
        ':\s*"?[-+ ]*([0-9.]{17,}|[0-9.]+[eE][+]?[0-9]{2,}) *"?\s*[,}]'
    )
