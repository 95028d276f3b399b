-- The types of JSON values that are what a field is documented to be.
create or replace temp macro accepted_types(expected) as
    case expected
        when 'integer' then ['UBIGINT', 'BIGINT', 'DOUBLE']
        when 'number' then ['UBIGINT', 'BIGINT', 'DOUBLE']
        when 'string' then ['VARCHAR']
        when 'array' then ['ARRAY']
        else ['OBJECT']
    end;

-- Whether JSON text is a number or null: 4 and 4.0 are, "4" is not.
create or replace temp macro is_number(served) as
    coalesce(cast(served as varchar), 'null') = 'null'
    or coalesce(isfinite(try_cast(cast(served as varchar) as double)), false)
