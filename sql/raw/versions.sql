with

metadata as (

    select
        file_name as path,
        map_from_entries(list((key, value))) as said
    from {{ metadata }}
    group by 1

),

hashed as (

    select
        filename as path,
        {{ entity }} as entity,
        case
            when strlen(item) > 2 * {{ max_depth }}
            then length(regexp_replace(item, '[^\[{]', '', 'g'))
            else 0
        end as brackets,
        sha256(item) as hash
    from {{ rows }}

),

-- The hash as eight words, low byte first, each added up apart.
contents as (

    select
        path,
        count(*) as row_count,
        count(distinct entity) as entity_count,
        max(brackets) > {{ max_depth }} as may_be_deep,
        [
            sum(word(hash, 0)), sum(word(hash, 1)), sum(word(hash, 2)),
            sum(word(hash, 3)), sum(word(hash, 4)), sum(word(hash, 5)),
            sum(word(hash, 6)), sum(word(hash, 7))
        ] as lanes
    from hashed
    group by 1

),

final as (

    select
        coalesce(metadata.path, contents.path) as path,
        metadata.said['org_id'] as org_id,
        metadata.said['resource'] as resource,
        metadata.said['activity_date'] as activity_date,
        metadata.said['fetched_at'] as fetched_at,
        metadata.said['request_id'] as request_id,
        metadata.said['digest'] as digest,
        cast(coalesce(contents.row_count, 0) as integer) as row_count,
        cast(coalesce(contents.entity_count, 0) as integer) as entity_count,
        coalesce(contents.may_be_deep, false) as may_be_deep,
        list_transform(
            coalesce(contents.lanes, [0, 0, 0, 0, 0, 0, 0, 0]),
            lambda lane: cast(lane % 4294967296 as bigint)
        ) as lanes
    from metadata
    full outer join contents -- a file of no rows, or one that says nothing
        on metadata.path = contents.path

)

select * from final
