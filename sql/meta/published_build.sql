-- What the warehouse says of how it was built, times as milliseconds.
select
    run_id,
    epoch_ms(built_at) as built_ms,
    epoch_ms(as_of) as as_of_ms
from meta.build
