-- What the published file says that its models were made by.
select
    model,
    made_by,
    fingerprint,
    content,
    unit_tests,
    engine,
    engine = {{ engine }} as is_same_engine
from meta.models
