import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hookFolders } from '../../src/hooks/record.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { namesIn, outcomeOf, runHook, spooled, startHook } from './support.ts'

const EVENT = { hook_event_name: 'Stop', session_id: 'session-1', cwd: '/work/project' }
const SILENT = { code: 0, out: '', err: '' }

describe('hooks run', () => {
  it('records the object byte for byte, and prints nothing', async () => {
    const data = await temporaryFolder()
    const served = '{ "hook_event_name":"Stop",\n "big": 9007199254740993, "z":1.0, "a":"\\u00e9" }'
    expect(await runHook(`\uFEFF${served}\n`, { data })).toEqual(SILENT)
    const [event, ...others] = await spooled(data)
    expect(others).toEqual([])
    expect(event?.text).toContain(`"input":${served}}`)
    expect(event?.name).toMatch(/^\d{8}T\d{9}Z-[0-9a-f-]{36}\.json$/)
    expect(event?.name).toContain(event?.event_id)
    expect(event?.recorded_at).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    expect(await namesIn(hookFolders(data).last)).toEqual(['Stop'])
  })

  it('redacts secrets before it writes', async () => {
    const data = await temporaryFolder()
    const command = 'curl -H "Authorization: Bearer abcdefgh12345678"'
    const tool_input = { command, password: 'hunter2' }
    await runHook(JSON.stringify({ ...EVENT, tool_input }), { data })
    const [event] = await spooled(data)
    expect(event?.text).not.toMatch(/abcdefgh12345678|hunter2/)
    expect(event?.text).toMatch(/\[redacted:[0-9a-f]{8}\]/)
    expect(event?.input).toMatchObject(EVENT)
  })

  it('records each event of two hundred concurrent processes once', async () => {
    const data = await temporaryFolder()
    const sessions = Array.from({ length: 200 }, (_, index) => `session-${index}`)
    const queue = [...sessions]
    const codes: (number | null)[] = []
    const worker = async (): Promise<void> => {
      for (let session = queue.shift(); session !== undefined; session = queue.shift()) {
        const { code } = await runHook(JSON.stringify({ ...EVENT, session_id: session }), { data })
        codes.push(code)
      }
    }
    await Promise.all(Array.from({ length: 25 }, worker))
    expect(new Set(codes)).toEqual(new Set([0]))
    const events = await spooled(data)
    expect(events.map(({ input }) => input['session_id']).sort()).toEqual(sessions.sort())
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(200)
    expect(await namesIn(hookFolders(data).inbox)).toEqual([])
  })
})

const deep = '['.repeat(200_000)
const deepObject = `{"hook_event_name":"Stop","a":${'['.repeat(120_000)}${']'.repeat(120_000)}}`

describe('hooks run ends with exit code 0', () => {
  it.each<[string, string | Uint8Array, string]>([
    ['is empty', '', ''],
    ['is only white space', ' \n\t', ''],
    ['is not JSON', 'not json', 'not json'],
    ['is cut off', '{"hook_event_name":"Stop"', '{"hook_event_name":"Stop"'],
    ['is a list', '[1]', '[1]'],
    ['is null', 'null', 'null'],
    ['is a text', '"Stop"', '"Stop"'],
    ['has two objects', '{}{}', '{}{}'],
    ['is not UTF-8', new Uint8Array([0x7b, 0xff, 0xfe]), '{\uFFFD\uFFFD'],
    ['has 200,000 open brackets', deep, deep.slice(0, 4096)],
    ['is an object nested too deep', deepObject, deepObject.slice(0, 4096)],
    ['is longer than any event', `{"a":"${'x '.repeat(600_000)}"}`, `{"a":"${'x '.repeat(2045)}`],
  ])('when its input %s, and records the beginning of the input', async (_, input, kept) => {
    const data = await temporaryFolder()
    expect(await runHook(input, { data })).toEqual(SILENT)
    const [event] = await spooled(data)
    expect(event?.input).toEqual({ unreadable: kept })
    const log = await readFile(hookFolders(data).errorsLog, 'utf8')
    expect(log).toContain('standard input was not a JSON object')
    expect(log.trim().split('\n')).toHaveLength(1)
  })

  it('when its input never ends, and records what arrived in time', async () => {
    const data = await temporaryFolder()
    const run = { data, isEndless: true }
    expect(await runHook(JSON.stringify(EVENT), run)).toEqual(SILENT)
    expect(await runHook('', run)).toEqual(SILENT)
    const events = await spooled(data)
    expect(events.map(({ input }) => input)).toEqual([EVENT, { unreadable: '' }])
  })

  it.each(['SIGINT', 'SIGHUP', 'SIGTERM'] as const)(
    'when the terminal sends %s, and records the event',
    async (signal) => {
      const data = await temporaryFolder()
      const child = startHook({ data })
      const outcome = outcomeOf(child)
      // 64 KiB fit into the pipe: the writer waits until the command reads
      const text = JSON.stringify({ ...EVENT, message: 'x'.repeat(256 * 1024) })
      await new Promise((resolve) => child.stdin?.write(text, resolve))
      child.kill(signal)
      child.stdin?.end()
      expect(await outcome).toEqual(SILENT)
      expect(await spooled(data)).toHaveLength(1)
    },
  )

  it.each([
    ['unknown fields', { hook_event_name: 'ToolBegins', extra: { a: [1, null] } }],
    ['no event name', {}],
    ['an event name that is not text', { hook_event_name: { toString: 1 }, session_id: 7 }],
    ['an event name that is a path', { hook_event_name: '../../../etc/passwd' }],
  ])('when its object has %s, and records it', async (_, input) => {
    const data = await temporaryFolder()
    expect(await runHook(JSON.stringify(input), { data })).toEqual(SILENT)
    expect((await spooled(data)).map((event) => event.input)).toEqual([input])
    expect(await namesIn(hookFolders(data).last)).toEqual(['other'])
  })

  it('when the data folder does not exist yet, and creates it', async () => {
    const data = join(await temporaryFolder(), 'not', 'there')
    expect(await runHook(JSON.stringify(EVENT), { data })).toEqual(SILENT)
    expect(await spooled(data)).toHaveLength(1)
  })

  it('when the data folder is a file or cannot be created', async () => {
    const file = join(await temporaryFolder(), 'data')
    await writeFile(file, '')
    for (const data of [file, '/proc/no/such', '/dev/null/data']) {
      expect(await runHook(JSON.stringify(EVENT), { data })).toEqual(SILENT)
    }
  })

  it('when the redaction key is damaged, and writes nothing unredacted', async () => {
    const data = await temporaryFolder()
    await mkdir(join(data, 'state'), { recursive: true })
    await writeFile(join(data, 'state', 'redaction.key'), 'damaged')
    expect(await runHook(JSON.stringify(EVENT), { data })).toEqual(SILENT)
    expect(await spooled(data)).toEqual([])
    expect(await readFile(hookFolders(data).errorsLog, 'utf8')).toContain('redaction.key')
  })

  it('when the data folder is read-only', async () => {
    const data = await temporaryFolder()
    await chmod(data, 0o500)
    expect(await runHook(JSON.stringify(EVENT), { data })).toEqual(SILENT)
    await chmod(data, 0o700)
  })

  it('when the disk is full from any write on, and leaves no incomplete event', async () => {
    const node = ['--import', join(packageRoot, 'test', 'support', 'full-disk-end.mjs')]
    let refusals = 0
    for (let fullAt = 1; ; fullAt += 1) {
      const data = await temporaryFolder()
      const environment = { FULL_AT: String(fullAt) }
      const outcome = await runHook(JSON.stringify(EVENT), { data, node, environment })
      expect(outcome).toMatchObject({ code: 0, out: '' })
      const events = await spooled(data)
      for (const { input } of events) expect(input).toEqual(EVENT)
      if (outcome.err.includes('not full')) break
      refusals += 1
    }
    expect(refusals).toBeGreaterThan(8)
  })

  it.each([
    ['is not YAML', 'hooks: [unclosed'],
    ['is invalid', 'hooks: { rules: 7 }'],
    ['is empty', ''],
  ])('when its configuration %s', async (_, content) => {
    const data = await temporaryFolder()
    const config = join(data, 'agent-warehouse.yaml')
    await writeFile(config, content)
    expect(await runHook(JSON.stringify(EVENT), { data, config })).toEqual(SILENT)
    expect(await spooled(data)).toHaveLength(1)
  })

  it('when only the environment names the data folder', async () => {
    const data = await temporaryFolder()
    const environment = { AGENT_WAREHOUSE_DATA: data }
    expect(await runHook(JSON.stringify(EVENT), { data: '', environment })).toEqual(SILENT)
    expect(await spooled(data)).toHaveLength(1)
  })
})
