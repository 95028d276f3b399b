-- The types of JSON values that are what a field is documented to be.
create or replace temp macro accepted_types(expected) as
    case expected
        when 'integer' then ['UBIGINT', 'BIGINT', 'DOUBLE']
        when 'number' then ['UBIGINT', 'BIGINT', 'DOUBLE']
        when 'string' then ['VARCHAR']
        when 'array' then ['ARRAY']
        else ['OBJECT']
    end
