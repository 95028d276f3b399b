select distinct activity_date as date_day
from {{ ref('dim_date') }}
