-- Of the items that matched no shape so far, those that round-trip through this one.
delete from compared
where alike is null;

insert into compared
from compared_next
