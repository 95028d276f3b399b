import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseDay } from '../../src/lib/days.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import type { Measure } from '../../src/model/project/shapes.ts'
import { project } from '../model/alone.ts'
import { folderOfFile } from '../support/folders.ts'
import { buildLake } from '../model/lake-build.ts'
import { additivityOf, measureOf, measures, measureSql, metricSql } from '../model/metrics/pages.ts'
import { Lake } from '../support/lake.ts'
import { landGolden } from './land.ts'

let path: string
beforeAll(async () => {
  const lake = await Lake.open(await folderOfFile())
  await landGolden(lake, join(packageRoot, 'test', 'golden', 'weeks'))
  await buildLake(lake, parseDay('2027-02-14', 'the last day'))
  path = join(lake.data, 'warehouse.duckdb')
})

/** The only cell of a statement, as a number; NaN for NULL. */
async function numberOf(sql: string): Promise<number> {
  const database = await Database.open(path, { readOnly: true })
  try {
    const { rows } = await database.table(sql)
    const [[cell = null] = []] = rows
    return cell === null ? NaN : Number(cell)
  } finally {
    database.close()
  }
}

/** What the results by a column add up to. */
function addedUp(metric: Measure, column: string): Promise<number> {
  return numberOf(`select sum(${metric.name}) from (${measureSql(metric, [column])})`)
}

const byColumn = measures.flatMap((metric) =>
  metric.grain.map((column) => [metric.name, column, metric] as const),
)
const isAdded = ([, column, metric]: (typeof byColumn)[number]): boolean =>
  metric.adds_up_over.includes(column)

describe('a metric of the golden lake of weeks', () => {
  it.each(project.metrics.map((metric) => [metric.name, metric] as const))(
    'has a value: %s',
    async (_, metric) => {
      expect(await numberOf(metricSql(metric))).toBeGreaterThan(0)
    },
  )

  it.each(byColumn.filter(isAdded))('%s adds up over %s', async (_, column, metric) => {
    const whole = await numberOf(measureSql(metric))
    const sum = await addedUp(metric, column)
    expect(Math.abs(sum - whole)).toBeLessThanOrEqual(whole * 1e-9)
  })

  it.each(byColumn.filter((each) => !isAdded(each) && each[1] !== 'org_id'))(
    '%s does not add up over %s',
    async (_, column, metric) => {
      const whole = await numberOf(measureSql(metric))
      expect(Math.abs((await addedUp(metric, column)) - whole)).toBeGreaterThan(whole * 0.01)
    },
  )

  it('that is a ratio differs over the whole period from the mean of the ratios of days', async () => {
    const [calls, messages] = ['tool_calls', 'user_messages'].map(measureOf)
    if (calls === undefined || messages === undefined) throw new Error('no such measures')
    const ratios = `select avg(tool_calls / user_messages) from (${measureSql(calls, ['activity_date'])})
      inner join (${measureSql(messages, ['activity_date'])}) using (activity_date)`
    const [ratio] = project.metrics.filter(({ name }) => name === 'autonomy_ratio')
    if (ratio === undefined) throw new Error('no such metric')
    const whole = await numberOf(metricSql(ratio))
    expect(Math.abs((await numberOf(ratios)) - whole)).toBeGreaterThan(1e-6)
    expect(additivityOf(ratio)).toBe('non-additive')
  })

  it('of credits is equal in every mart that has them', async () => {
    const [credits, models] = ['credits', 'model_credits'].map(measureOf)
    if (credits === undefined || models === undefined) throw new Error('no such measures')
    expect(await numberOf(measureSql(models))).toBe(await numberOf(measureSql(credits)))
  })
})
