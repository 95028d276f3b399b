with

spellings as (

    select
        org_id,
        spelling,
        tool_key,
        is_clean_name
    from {{ ref('stg_platform__tools_tools') }}

    union

    select
        org_id,
        spelling,
        tool_key,
        is_clean_name
    from {{ ref('stg_platform__tools_by_name') }}

),

clean_names as (

    select distinct
        org_id,
        tool_key
    from spellings
    where is_clean_name

),

final as (

    select
        org_id,
        spellings.spelling,
        coalesce(clean_names.tool_key, '(unparsed)') as tool_name
    from spellings
    left join clean_names using (org_id, tool_key)

)

select * from final
