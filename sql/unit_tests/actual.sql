with

{{ given }}

actual as (

{{ model }}

)

select * from actual
