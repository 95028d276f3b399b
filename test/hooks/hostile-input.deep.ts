import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hookFolders } from '../../src/hooks/record.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { runHook, spooled } from './support.ts'

const SILENT = { code: 0, out: '', err: '' }
const PASSWORD = 'hunter2'

/** A unit repeated up to so many characters. */
function filled(unit: string, size: number): string {
  return unit.repeat(Math.ceil(size / unit.length)).slice(0, size)
}

/** An event of a command with a hostile text and a password after it. */
function eventWith(text: string): string {
  const tool_input = { command: `${text}\nmysql -p${PASSWORD} db` }
  return JSON.stringify({ hook_event_name: 'PostToolUse', session_id: 's', tool_input })
}

function nested(depth: number): string {
  const lists = `${'['.repeat(depth)}"password=${PASSWORD}"${']'.repeat(depth)}`
  return `{"hook_event_name":"Stop","a":${lists}}`
}

const BASE64 = Buffer.alloc(4_500_000, 'x7Gh2kLm9Qw4Zt1P/+?~').toString('base64')

/** Just below the largest event that is read. */
const MOST = 1_000_000

/**
 * The agent waits while this runs. Quadratic time would take minutes for the longest of these,
 * and the timeout of the test ends it; it is no bound of the speed.
 */
describe(
  'law 13: hooks run does not delay the agent, and writes no secret',
  { timeout: 60_000 },
  () => {
    it.each([
      ['a token that does not end, 128 kB', eventWith(`eyJ${filled('aaaa-', 128_000)}`)],
      ['a token that does not end, 1 MB', eventWith(`eyJ${filled('aaaa-', MOST)}`)],
      ['beginnings of tokens, 128 kB', eventWith(filled('eyJaaaa-', 128_000))],
      ['beginnings of tokens, 1 MB', eventWith(filled('eyJaaaa-', MOST))],
      ['Base64, 1 MB', eventWith(BASE64.slice(0, MOST))],
      ['addresses, 1 MB', eventWith(filled('a://b:c/', MOST))],
      ['options, 1 MB', eventWith(filled('mysql -p ', MOST))],
      ['blanks, 1 MB', eventWith(filled(' ', MOST))],
      ['JSON as deep as is read', nested(5_000)],
      ['a name of capitals', `{"password":"${PASSWORD}","${filled('A', MOST - 100)}":1}`],
      ['a name of digits', `{"password":"${PASSWORD}","${filled('1', MOST - 100)}a":1}`],
      ['many members', `{"password":"${PASSWORD}",${'"a":1,'.repeat(150_000)}"b":1}`],
    ])('records an event of %s', async (_, input) => {
      const data = await temporaryFolder()
      expect(await runHook(input, { data })).toEqual(SILENT)
      const [event, ...others] = await spooled(data)
      expect(others).toEqual([])
      expect(event?.input).not.toHaveProperty('unreadable')
      expect(event?.text).toContain('[redacted:')
      expect(event?.text).not.toContain(PASSWORD)
      await expect(readFile(hookFolders(data).errorsLog)).rejects.toThrow('ENOENT')
    })

    it.each([
      ['6 MB of Base64 in an event', eventWith(BASE64)],
      ['6 MB of Base64 alone', BASE64],
      ['6 MB of beginnings of tokens', filled('eyJaaaa-', 6_000_000)],
      ['JSON deeper than is read', nested(200_000)],
      ['6 MB of brackets', filled('[', 6_000_000)],
    ])('records only the beginning of %s', async (_, input) => {
      const data = await temporaryFolder()
      expect(await runHook(input, { data })).toEqual(SILENT)
      const [event, ...others] = await spooled(data)
      expect(others).toEqual([])
      expect(Object.keys(event?.input ?? {})).toEqual(['unreadable'])
      expect(event?.text.length).toBeLessThan(20_000)
      expect(event?.text).not.toContain(PASSWORD)
    })

    it('reads a long event to its end also if it cannot be recorded', async () => {
      const file = join(await temporaryFolder(), 'data')
      await writeFile(file, '')
      expect(await runHook(eventWith(BASE64), { data: file })).toEqual(SILENT)
    })
  },
)
