create or replace temp macro word(hash, lane) as
    cast(
        '0x'
        || substr(hash, lane * 8 + 7, 2)
        || substr(hash, lane * 8 + 5, 2)
        || substr(hash, lane * 8 + 3, 2)
        || substr(hash, lane * 8 + 1, 2)
        as ubigint
    )
