-- The items that may differ from the documentation.
{{ into }}
from compared
where alike is distinct from 0
