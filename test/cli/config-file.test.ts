import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { UsageError } from '../../src/lib/errors.ts'
import { temporaryFolder } from '../support/helpers.ts'

/** The error for a configuration file with this text; `{file}` stands for its path. */
async function errorFor(
  text: string | Uint8Array,
): Promise<{ message: string; hint: string | undefined }> {
  const folder = await temporaryFolder()
  const file = join(folder, 'agent-warehouse.yaml')
  await writeFile(file, text, { mode: 0o600 })
  try {
    loadConfig({}, {}, folder)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { message: error.message.replaceAll(file, '{file}'), hint: error.hint }
  }
  throw new Error('the file was accepted')
}

const ACME = 'name: acme, base_url: https://api.example.com, key_env: KEY'

describe('a configuration file', () => {
  it.each([
    ['Latin-1', Buffer.from('rate: 5\ndata: caf\u00e9\n', 'latin1'), '{file}:2'],
    ['UTF-16', Buffer.from('\ufeffrate: 5\n', 'utf16le'), '{file}:1'],
  ])('in %s is refused, because its names would change', async (_, bytes, place) => {
    expect(await errorFor(bytes)).toEqual({
      message: `${place}: the file is not UTF-8`,
      hint: 'Save it as UTF-8, which spreadsheet programs call "CSV UTF-8".',
    })
  })

  it('with the ending .yml is refused, because its settings would be ignored', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'agent-warehouse.yml'), 'rate: 5\n', { mode: 0o600 })
    const load = (): unknown => loadConfig({}, {}, folder)
    expect(load).toThrow(`${join(folder, 'agent-warehouse.yml')} would not be read`)
    await writeFile(join(folder, 'agent-warehouse.yaml'), 'rate: 6\n', { mode: 0o600 })
    expect(load()).toMatchObject({ rate: 6 })
  })

  it.each([
    ['sk-a-key', '{file}: must be settings in the form name: value'],
    ['rate: true', '{file} rate: must be a number above 0'],
    ['rate: [2]', '{file} rate: must be a number above 0'],
    ['concurrency: 5000000', '{file} concurrency: must be at most 1000'],
    ['[]', '{file}: must be settings in the form name: value'],
    ['data: 5', '{file} data: must be text'],
    ['data: ""', '{file} data: must not be empty'],
    ['threads: [2]', '{file} threads: must be text or a number'],
    ['keep_published: 1.5', '{file} keep_published: must be a whole number'],
    ['keep_published: -1', '{file} keep_published: must be at least 0'],
    ['exports: csv', '{file} exports: must be a list'],
    ['exports: [xls]', '{file} exports.0: must be one of parquet, csv, duckdb'],
    ['report: {people: true}', '{file} report.formats: is missing'],
    ['report: {formats: [], people: true}', '{file} report.formats: must not be empty'],
    ['report: {formats: [md], people: maybe}', '{file} report.people: must be true or false'],
    ['organisations: []', '{file} organisations: must not be empty'],
    ['organisations: [{name: a, key_env: A}]', '{file} organisations.0.base_url: is missing'],
    [
      `organisations: [{${ACME}}, {${ACME}}]`,
      '{file} organisations: two organisations have the same name',
    ],
    ['spark: {settings: {cores: 2}}', '{file} spark.settings.cores: is not a setting of Spark'],
    [
      'hooks: {channels: {bell: {type: gong}}}',
      '{file} hooks.channels.bell.type: must be one of desktop, sound, team-chat, webhook, email',
    ],
    [
      'hooks: {rules: [{events: [Stop], channels: [a], quiet_hours: on}]}',
      '{file} hooks.rules.0.quiet_hours: must be off or settings in the form name: value',
    ],
    [
      'hooks: {rules: [{events: [Stop], channels: [a], quiet_hours: {from: "22:00"}}]}',
      '{file} hooks.rules.0.quiet_hours.to: is missing',
    ],
  ])('%s is refused in plain words', async (text, message) => {
    expect((await errorFor(text)).message).toBe(message)
  })

  it('with a misspelt setting that is required gets the right name, not only that it is missing', async () => {
    expect(await errorFor('organisations: [{name: a, base_ulr: https://a, key_env: A}]')).toEqual({
      message: "{file} organisations.0: there is no setting 'base_ulr'",
      hint: "Did you mean 'base_url'?",
    })
  })

  it('with an unknown setting of a channel gets the settings of its type', async () => {
    expect(await errorFor('hooks: {channels: {ops: {type: webhook, url: a}}}')).toEqual({
      message: "{file} hooks.channels.ops: there is no setting 'url'",
      hint: 'Known: secret_env, type, url_env.',
    })
  })

  it('with a template of an unknown event gets the nearest event', async () => {
    expect(await errorFor('hooks: {templates: {Stopp: a}}')).toEqual({
      message: "{file} hooks.templates: there is no setting 'Stopp'",
      hint: "Did you mean 'Stop'?",
    })
  })

  it.each([
    ['data: a\n---\ndata: b\n', '{file}: the file has several documents, but must be one'],
    ['data: !secret a\n', '{file}: unknown scalar tag at line 1, column 7'],
    ['data: a\ndata: b\n', '{file}: duplicated mapping key at line 2, column 1'],
    [
      'exports:\n\t- csv\n',
      '{file}: tab characters must not be used in indentation at line 2, column 1',
    ],
  ])('%j is not one YAML document of settings', async (text, message) => {
    expect((await errorFor(text)).message).toBe(message)
  })

  it('with a very long value shows only its beginning', () => {
    const environment = { AGENT_WAREHOUSE_RATE: 'x'.repeat(1_000_000) }
    expect(() => loadConfig({}, environment, '/')).toThrow(
      `AGENT_WAREHOUSE_RATE: '${'x'.repeat(80)}…' must be a number above 0`,
    )
  })

  it('with a byte order mark and line ends of Windows is read', async () => {
    const folder = await temporaryFolder()
    const text = '\uFEFFkeep_published: 5\r\nexports: [csv]\r\n'
    await writeFile(join(folder, 'agent-warehouse.yaml'), text, { mode: 0o600 })
    expect(loadConfig({}, {}, folder)).toMatchObject({ keepPublished: 5, exports: ['csv'] })
  })
})

it('the data folder in a configuration file is relative to the file', async () => {
  const folder = await temporaryFolder()
  const config = join(folder, 'agent-warehouse.yaml')
  await writeFile(config, 'data: lakes/one', { mode: 0o600 })
  const dataOf = (flags: object, environment = {}): string =>
    loadConfig({ config, ...flags }, environment, '/elsewhere').dataFolder
  expect(dataOf({})).toBe(join(folder, 'lakes/one'))
  expect(dataOf({}, { AGENT_WAREHOUSE_DATA: 'two' })).toBe('/elsewhere/two')
  expect(dataOf({ data: 'three' })).toBe('/elsewhere/three')
})
