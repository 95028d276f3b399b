-- One row per org, day and computer of `computers`; a later one wins. The unit
-- of `createdAt` is not documented: it is inferred from the size.
select
    org_id,
    activity_date,
    nullif(item.id, '') as computer_id,
    nullif(item.name, '') as computer_name,
    nullif(item.providerType, '') as provider_type,
    item.createdAt as created_at_raw,
    from_epoch(item.createdAt) as created_at,
    nullif(item.hostId, '') as host_id,
    nullif(item.hostname, '') as hostname,
    nullif(item.status, '') as status,
    nullif(item.remoteUser, '') as remote_user,
    fetched_at
from parsed
