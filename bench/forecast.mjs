// The forecast of mart_budget_forecast on synthetic organisations that grow, shrink, have seasons
// or a step. Its back-test says how often the month was within the band, which promises 80 %, and
// compares its error with those of two simple forecasts.
import { join } from 'node:path'
import { compileProject } from '../dist/model/project/compile.js'
import { loadProject } from '../dist/model/project/project.js'
import { Database, literal } from '../dist/lib/duckdb.js'
import { HISTORY_BEGINS, report, root, tell } from './lib.mjs'

const DAYS = 480
const ORGANISATIONS_OF_A_KIND = 6
const PROMISED = 80
const TOLERANCE = 5

/** The level of a day as a multiple of the first day, by the number of days since. */
const KINDS = {
  steady: () => 1,
  growing: (day) => Math.exp(0.0035 * day),
  shrinking: (day) => Math.exp(-0.003 * day),
  'with seasons': (day) => 1 + 0.25 * Math.sin((2 * Math.PI * day) / 91),
  'with a step up': (day) => (day < DAYS / 2 ? 1 : 1.7),
  'with a step down': (day) => (day < DAYS * 0.4 ? 1 : 0.55),
}
/** From Wednesday, the weekday of the first day. */
const WEEKDAYS = [1.15, 1.1, 0.9, 0.25, 0.2, 1, 1.1]

const model = await modelOf('mart_budget_forecast')
const database = await Database.open(':memory:')
const figures = []
try {
  await database.run('create schema staging')
  for (const [kind, level] of Object.entries(KINDS)) {
    tell(`organisations: ${kind}`)
    figures.push(...figuresOf(kind, await backTest(kind, level)))
  }
} finally {
  database.close()
}
report(figures)

async function modelOf(name) {
  const project = await loadProject(join(root, 'dbt-like-models'))
  const { models } = compileProject(project, { sourceSql: (_, table) => `platform.${table}` })
  return models.find((node) => node.name === name).sql
}

/** What the mart reports about its own forecasts. */
async function backTest(kind, level) {
  const rows = Array.from({ length: ORGANISATIONS_OF_A_KIND }, (_, number) =>
    daysOf(`${kind} ${number + 1}`, level),
  ).flat()
  await database.run(`create or replace table fct_org_day as
    select * from (values ${rows.join(', ')}) as days (org_id, activity_date, billable_tokens)`)
  await database.run(`create or replace table staging.stg_platform__intervals as
    select org_id, 'tokens' as resource, activity_date, 'landed' as status from fct_org_day`)
  await database.run(`create or replace table mart_limit_usage (
    org_id varchar, user_id varchar, month_start_date date, effective_limit bigint)`)
  const [row] = await database.rows(`
    select
      count(*) as forecasts,
      100.0 * count_if(is_within_band) / count(*) as coverage,
      100 * avg(absolute_percentage_error) as error,
      100 * avg(last_month_error) as last_month,
      100 * avg(straight_line_error) as straight_line
    from (${model})
    where is_within_band is not null and last_month_error is not null`)
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]))
}

/** The days of an organisation as SQL values, each organisation with its own noise. */
function daysOf(org, level) {
  const random = randomOf(org)
  const noise = 0.1 + 0.2 * random()
  const first = `date ${literal(HISTORY_BEGINS)}`
  let drift = 0
  return Array.from({ length: DAYS }, (_, day) => {
    drift = 0.3 * drift + Math.sqrt(1 - 0.3 ** 2) * noise * normal(random)
    const credits = 1e6 * level(day) * WEEKDAYS[day % 7] * Math.exp(drift)
    return `(${literal(org)}, ${first} + ${day}, cast(${credits.toFixed(2)} as decimal(38, 6)))`
  })
}

function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** Pseudo-random numbers from 0 to 1: xorshift, seeded by the text's FNV-1a hash. */
function randomOf(text) {
  let state = 2_166_136_261
  for (const character of text) {
    state = Math.imul(state ^ character.codePointAt(0), 16_777_619)
  }
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

function figuresOf(kind, { forecasts, coverage, error, last_month, straight_line }) {
  return [
    { name: `${kind}: forecasts`, value: forecasts, unit: 'days' },
    {
      name: `${kind}: months within the band`,
      value: coverage,
      unit: '%',
      least: PROMISED - TOLERANCE,
      most: PROMISED + TOLERANCE,
    },
    { name: `${kind}: mean error`, value: error, unit: '%' },
    {
      name: `${kind}: error / same as last month`,
      value: error / last_month,
      unit: '×',
      most: 1,
    },
    { name: `${kind}: error / straight line`, value: error / straight_line, unit: '×', most: 1 },
  ]
}
