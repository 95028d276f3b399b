import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { program } from '../../src/cli/program.ts'
import { command } from '../support/command.ts'
import { writeWarehouse } from '../serve/support.ts'

/** Colours, a window title, C1, directions, zero width, line ends, a tag, a byte order mark. */
const VALUES = [
  '\u001b[31mred\u001b]0;owned\u0007',
  'a\u009b2J\u0085b',
  '\u202egpj.exe\u2066',
  'pay\u200dpal\u200b\u00ad',
  'one\r\ntwo\rthree\ttab, "quoted"',
  'a\u{e0041}\u2028b\ufeff',
  'Zoë 東京 👩‍💻',
]
const SQL = 'select value from odd order by ordinal'
const CONTROLS =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/

/** RFC 4180, one column and a header. */
function csvValues(text: string): string[] {
  return [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^"\n]*))\n/g)]
    .slice(1)
    .map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '')
}

function jsonValues(text: string): unknown {
  return (JSON.parse(text) as { value: string }[]).map(({ value }) => value)
}

describe('the output of query', () => {
  let data: string

  beforeAll(async () => {
    const rows = VALUES.map((value, ordinal) => `(${ordinal}, ${spelled(value)})`)
    const sql = `create table odd as from (values ${rows.join(', ')}) t(ordinal, value)`
    data = await mkdtemp(join(tmpdir(), 'agent-warehouse-'))
    await writeWarehouse(join(data, 'warehouse.duckdb'), sql)
  })

  afterAll(() => rm(data, { recursive: true }))

  it.each([
    ['csv', csvValues],
    ['json', jsonValues],
  ] as const)('as %s into a pipe has every value unchanged', async (format, valuesIn) => {
    const { code, out, err } = await command(['query', SQL, '--format', format, '--data', data])
    expect([code, err]).toEqual([0, ''])
    expect(valuesIn(out)).toEqual(VALUES)
  })

  it('as a table into a pipe has control characters escaped', async () => {
    const { out } = await command(['query', SQL, '--data', data])
    expect(out).toContain(String.raw`\u001b[31mred`)
    expect(out).not.toMatch(CONTROLS)
  })

  it.each(['csv', 'json', 'table'])(
    'as %s on a terminal has control characters escaped',
    async (format) => {
      let out = ''
      const code = await program(['query', SQL, '--format', format, '--data', data], {
        out: (text) => (out += text),
        err: () => undefined,
        isTty: true,
        columns: () => 100,
        outWidth: 100,
        hasColour: false,
        ask: null,
        environment: {},
        cwd: '/',
        now: () => Date.now(),
      })
      expect(code).toBe(0)
      expect(out).not.toMatch(CONTROLS)
      expect(out).toContain(String.raw`\u001b[31mred`)
      if (format === 'json') expect(jsonValues(out)).toEqual(VALUES)
    },
  )

  it('is described in --help', async () => {
    const { out } = await command(['query', '--help'])
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      'In a pipe or a file, json and csv contain every value unchanged',
    )
  })
})

/** An SQL expression of character codes, so that nothing on the way changes a character. */
function spelled(value: string): string {
  return Array.from(value, (char) => `chr(${char.codePointAt(0) ?? 0})`).join(' || ')
}
