-- Of the items that came back from no shape before, those that come back from this one.
delete from compared
where alike is null;

insert into compared
from compared_next
