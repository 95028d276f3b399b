import { join } from 'node:path'
import { Database, literal } from '../../src/lib/duckdb.ts'
import type { Bench, Files } from './fixture.ts'

/** One incremental model over a source with a digest for each day, and a model that reads it. */
export const DAILY: Files = {
  'dbt_project.yml': `name: daily
model-paths: ['models']
models:
  daily:
    +materialized: view
`,
  'models/_sources.yml': `sources:
  - name: platform
    tables:
      - name: users
`,
  'models/stg_users.sql': `select * from {{ source('platform', 'users') }}
`,
  'models/stg_users.yml': `models:
  - name: stg_users
    description: One row per org, day and user.
    columns:
      - {name: org_id, description: The organisation.}
      - {name: activity_date, description: The day.}
      - {name: user_id, description: The user.}
      - {name: sessions, description: Sessions.}
      - {name: day_digest, description: The version of the day.}
`,
  'models/fct_user_day.sql': `{{
    config(
        materialized='incremental',
        incremental_strategy='delete+insert',
        unique_key=['org_id', 'activity_date'],
        on_schema_change='fail',
        pre_hook="
            {% if is_incremental() %}
            delete from {{ this }} as held
            where (org_id, activity_date, day_digest) not in (
                select (org_id, activity_date, day_digest)
                from {{ ref('stg_users') }}
            )
            {% endif %}
        "
    )
}}

select *
from {{ ref('stg_users') }}
{% if is_incremental() %}
where (org_id, activity_date) not in (
    select (org_id, activity_date) from {{ this }}
)
{% endif %}
`,
  'models/fct_user_day.yml': `models:
  - name: fct_user_day
    description: One row per org, day and user.
    data_tests:
      - unique_key: {arguments: {columns: [org_id, activity_date, user_id]}}
    columns:
      - {name: org_id, description: The organisation.}
      - {name: activity_date, description: The day.}
      - {name: user_id, description: The user.}
      - name: sessions
        description: Sessions.
        data_tests:
          - accepted_values: {arguments: {values: [1, 2, 3]}, config: {severity: warn}}
      - {name: day_digest, description: The version of the day.}
`,
  'models/fct_total.sql': `{{ config(materialized='table') }}
select sum(sessions) as sessions from {{ ref('fct_user_day') }}
`,
  'models/fct_total.yml': `models:
  - name: fct_total
    description: One row.
    columns:
      - {name: sessions, description: Sessions.}
`,
}

/** A user's sessions on a day, and the version of the day. */
export type UserDay = readonly [
  org: string,
  day: string,
  user: string,
  sessions: number,
  version: string,
]

/** Replaces the rows of the source. */
export async function serve(bench: Bench, rows: readonly UserDay[]): Promise<void> {
  const db = await Database.open(':memory:')
  await db.run('create table served (rows varchar)')
  await db.rows('insert into served values ($1)', [JSON.stringify(rows)])
  await db.run(`copy (
    select row[1] as org_id, cast(row[2] as date) as activity_date, row[3] as user_id,
      cast(row[4] as bigint) as sessions, row[5] as day_digest
    from (select unnest(from_json(rows, '[["VARCHAR"]]')) as row from served)
  ) to ${literal(join(bench.data, 'users.parquet'))} (format parquet)`)
  db.close()
}

/** `DAILY` with a ratio that is infinite for two sessions. */
export const WITH_RATIO: Files = {
  ...DAILY,
  'models/stg_users.sql': `select *, sessions / (sessions - 2) as ratio
from {{ source('platform', 'users') }}
`,
  'models/stg_users.yml': `${DAILY['models/stg_users.yml'] ?? ''}      - {name: ratio, description: A ratio.}
`,
  'models/fct_user_day.yml': `${DAILY['models/fct_user_day.yml'] ?? ''}      - {name: ratio, description: A ratio.}
`,
}
