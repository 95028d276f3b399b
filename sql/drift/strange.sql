-- The items that may differ from the documentation.
create or replace temp table strange as
from compared
where alike is distinct from 0
