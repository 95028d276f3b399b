import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig, type Config } from '../../src/config/config.ts'
import { UsageError } from '../../src/lib/errors.ts'
import { temporaryFolder } from '../support/helpers.ts'

const KEYS = { KEY_A: 'key-of-a', KEY_B: 'key-of-b' }

/** The configuration that names a list with these lines; `{csv}` in an error stands for the list. */
async function configOf(
  lines: readonly string[],
  encoding: BufferEncoding = 'utf8',
): Promise<Config> {
  const folder = await temporaryFolder()
  const csv = join(folder, 'organisations.csv')
  await writeFile(csv, lines.join('\n'), { mode: 0o600, encoding })
  const yaml = 'organisations: organisations.csv\n'
  await writeFile(join(folder, 'agent-warehouse.yaml'), yaml, { mode: 0o600 })
  await writeFile(join(folder, 'key'), 'key-in-file\n', { mode: 0o600 })
  try {
    return loadConfig({}, KEYS, folder)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(error.message.replaceAll(csv, '{csv}'), { hint: error.hint ?? '' })
  }
}

describe('a CSV file of organisations', () => {
  it('that is not UTF-8 is refused, because two names could become one', async () => {
    const lines = ['name,base_url,key_env', 'caf\u00e9,https://api.example.com,KEY_A']
    await expect(configOf(lines, 'latin1')).rejects.toThrow('{csv}:2: the file is not UTF-8')
  })

  it('has a column for each setting, in any order, and paths relative to the file', async () => {
    const config = await configOf([
      'Name;key_env;base_url;app_url;key_file',
      'acme;KEY_A;https://api.example.com;https://app.example.com;',
      '',
      '"beta; and more";;https://api.example.com;;key',
    ])
    const found = config
      .organisations()
      .map(({ name, baseUrl, appUrl, key }) => ({ name, baseUrl, appUrl, key }))
    expect(found).toEqual([
      {
        name: 'acme',
        baseUrl: 'https://api.example.com',
        appUrl: 'https://app.example.com',
        key: 'key-of-a',
      },
      {
        name: 'beta; and more',
        baseUrl: 'https://api.example.com',
        appUrl: null,
        key: 'key-in-file',
      },
    ])
  })

  it('has fields in quotes, and empty ones, between tabs', async () => {
    const config = await configOf([
      '"name"\t"base_url"\tapp_url\t"key_env"',
      '"acme"\t"https://api.example.com"\t\t"KEY_A"',
    ])
    const [acme] = config.organisations()
    expect(acme).toMatchObject({ name: 'acme', appUrl: null, key: 'key-of-a' })
  })

  const HEADER = 'name,base_url,key_env'
  it.each([
    ['an unknown column', ['name,base_ulr,key_env'], "{csv}:1: there is no column 'base_ulr'"],
    ['no text', [''], "{csv}:1: the header has no column 'name'"],
    ['a missing column', ['name,key_env'], "{csv}:1: the header has no column 'base_url'"],
    [
      'a column twice',
      [`${HEADER},Name`, 'a,https://a,A,b'],
      "{csv}:1: column 'name' appears twice",
    ],
    [
      'a key_command column',
      ['name,base_url,key_command'],
      "{csv}:1: there is no column 'key_command'",
    ],
    ['no organisation', [HEADER, ''], '{csv}:2: the file contains no organisation'],
    ['a missing key', [HEADER, 'a,https://a,A', '', 'b,https://b,'], '{csv}:4: needs exactly one'],
    ['two keys', [`${HEADER},key_file`, 'a,https://a,A,a'], '{csv}:2: needs exactly one of'],
    ['a missing address', [HEADER, 'a,,A'], '{csv}:2 base_url: '],
    [
      'an invalid variable name',
      [HEADER, 'a,https://a,A-B'],
      '{csv}:2 key_env: must be the name of',
    ],
    [
      'a repeated name',
      [HEADER, 'a,https://a,A', 'a,https://b,B'],
      "{csv}:3: column 'name': 'a' is already in line 2",
    ],
    [
      'a missing field',
      [HEADER, 'a,https://a'],
      '{csv}:2: the line has 2 fields, the first line has 3',
    ],
    ['an unclosed quote', [HEADER, '"a,https://a,A'], '{csv}:2: a double quote is not closed'],
  ])('with %s is refused with the line number', async (_, lines, message) => {
    await expect(configOf(lines)).rejects.toThrow(message)
    await expect(configOf(lines)).rejects.toBeInstanceOf(UsageError)
  })

  it('that does not exist is refused', async () => {
    const folder = await temporaryFolder()
    const yaml = 'organisations: none.csv\n'
    await writeFile(join(folder, 'agent-warehouse.yaml'), yaml, { mode: 0o600 })
    const csv = join(folder, 'none.csv')
    expect(() => loadConfig({}, {}, folder)).toThrow(`organisations: there is no file ${csv}`)
  })
})

describe('organisations selected by name', () => {
  const lines = ['name,base_url,key_env', 'acme,https://a,KEY_A', 'beta,https://b,NOT_SET']

  it('need only their own key, and an unknown name gets a suggestion', async () => {
    const config = await configOf(lines)
    expect(config.organisations(['acme']).map(({ name }) => name)).toEqual(['acme'])
    const problems = config.organisations().map(({ problem }) => problem?.message)
    expect(problems).toContain('no API key: NOT_SET is not set')
    expect(problems).toContain(undefined)
    const unknown = (): unknown => config.organisations(['acem'])
    expect(unknown).toThrow("there is no organisation 'acem'")
    expect(unknown).toThrow(expect.objectContaining({ hint: "Did you mean 'acme'?" }))
  })
})
