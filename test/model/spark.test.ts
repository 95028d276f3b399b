import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { UsageError } from '../../src/lib/errors.ts'
import { sparkType } from '../../src/model/engines/spark-job.ts'
import { findSpark, submit } from '../../src/model/engines/spark.ts'
import { type SparkSettings } from '../../src/model/shared/context.ts'
import { Bench, TINY } from './fixture.ts'
import { folderOfFile } from '../support/folders.ts'

/** A folder of Spark whose `spark-submit` is a shell script. */
async function fakeSpark(script: string): Promise<SparkSettings> {
  const home = await folderOfFile()
  await mkdir(join(home, 'bin'))
  await mkdir(join(home, 'jars'))
  await writeFile(join(home, 'jars', 'spark-core_2.13-4.1.1.jar'), '')
  await writeFile(join(home, 'bin', 'spark-submit'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const environment = { PATH: process.env['PATH'] ?? '' }
  return { master: 'spark://nowhere:7077', home, settings: {}, environment }
}

async function submitted(script: string): Promise<unknown[]> {
  const folder = await folderOfFile()
  const lines: unknown[] = []
  await submit(await fakeSpark(script), {
    ...{ job: join(folder, 'job.json'), folder, folderUrl: `file:${folder}` },
    onLine: (line) => lines.push(line),
    warn: () => undefined,
  })
  return lines
}

describe('Spark', () => {
  const environment = { PATH: '/nonexistent' }
  const settings = { master: 'local', home: null, settings: {}, environment }

  it('is found in the folder that the configuration or SPARK_HOME names', async () => {
    const { home } = await fakeSpark('true')
    expect(await findSpark({ ...settings, home })).toBe(home)
    const named = { ...environment, SPARK_HOME: home ?? '' }
    expect(await findSpark({ ...settings, environment: named })).toBe(home)
  })

  it('that is missing makes the build fail with what to install', async () => {
    const refused = findSpark(settings)
    await expect(refused).rejects.toThrow(UsageError)
    await expect(refused).rejects.toMatchObject({
      exitCode: 2,
      message: '--engine spark: there is no Spark on this machine',
      hint: expect.stringContaining('pip install pyspark') as string,
    })
    await expect(findSpark({ ...settings, home: '/nonexistent' })).rejects.toMatchObject({
      exitCode: 2,
      message: '--engine spark: there is no Spark in /nonexistent: it has no bin/spark-submit',
    })
  })
})

describe('spark-submit', () => {
  it('passes on the lines of the driver, and no other output', async () => {
    const log = `echo 'starting'; echo '{"level": "ERROR"}'`
    expect(await submitted(`${log}; echo '{"kind": "session"}'`)).toEqual([{ kind: 'session' }])
  })

  it('that ended early is reported with the reason', async () => {
    const ended = submitted(`echo 'ERROR: All masters are unresponsive! Giving up.' >&2; exit 1`)
    await expect(ended).rejects.toMatchObject({
      exitCode: 1,
      message:
        'Spark (spark://nowhere:7077) did not finish the build: spark-submit ended with exit code 1: ERROR: All masters are unresponsive! Giving up.',
    })
  })

  it('without Java is reported', async () => {
    await expect(submitted('echo "JAVA_HOME is not set" >&2; exit 1')).rejects.toMatchObject({
      exitCode: 2,
      message: '--engine spark: Spark did not find Java',
    })
  })
})

it('law 7: a build on Spark without a result for a model publishes nothing', async () => {
  const bench = await Bench.open()
  const spark = {
    ...(await fakeSpark(`echo '{"kind": "session", "version": "4", "application": "a"}'`)),
    sourceUrl: () => 'file:/nowhere',
    folder: join(bench.data, 'state', 'spark'),
    urlOf: (path: string) => `file:${path}`,
  }
  await expect(bench.build(TINY, { spark, fullRefresh: true })).rejects.toThrow(
    "it did not report on model 'stg_user'",
  )
  await expect(bench.rows('select 1')).rejects.toThrow()
})

it.each([
  ['VARCHAR', 'string'],
  ['BIGINT', 'BIGINT'],
  ['DECIMAL(38,6)', 'DECIMAL(38,6)'],
  ['TIMESTAMP WITH TIME ZONE', 'timestamp'],
  ['VARCHAR[]', 'array<string>'],
])('DuckDB’s %s is Spark’s %s', (type, spelled) => {
  expect(sparkType(type)).toBe(spelled)
})

describe('the configuration of Spark', () => {
  async function configured(yaml: string, environment: Record<string, string> = {}) {
    const folder = await folderOfFile()
    await writeFile(join(folder, 'agent-warehouse.yaml'), yaml, { mode: 0o600 })
    return loadConfig({ data: '/data' }, environment, folder)
  }

  it('has defaults, and passes no API key to Spark', async () => {
    const { engine, spark } = await configured('rate: 1\n', {
      AGENT_API_KEY: 'secret',
      SPARK_HOME: '/opt/spark',
    })
    expect(engine).toBe('duckdb')
    expect(spark).toEqual({
      master: 'local[*]',
      home: null,
      settings: {},
      environment: { SPARK_HOME: '/opt/spark' },
      dataUrl: 'file:/data',
    })
  })

  it('accepts only settings of Spark and URLs that Spark can read', async () => {
    const settings = 'spark:\n  data_url: s3a://bucket/data/\n  settings: {spark.cores.max: 2}\n'
    const { spark } = await configured(settings)
    expect(spark).toMatchObject({
      dataUrl: 's3a://bucket/data',
      settings: { 'spark.cores.max': '2' },
    })
    await expect(configured('spark: {data_url: "ftp://x/y"}\n')).rejects.toThrow(UsageError)
    await expect(configured('spark: {settings: {cores: 2}}\n')).rejects.toThrow(UsageError)
  })
})
