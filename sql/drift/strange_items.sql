select * exclude (read, is_strange)
from (
{{ read_back }}
) as read_back
where is_strange
