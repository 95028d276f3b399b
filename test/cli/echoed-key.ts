import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { Database, identifier, literal } from '../../src/lib/duckdb.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { everyCommand, run, type Invocation, type Shown } from './every-command.ts'
import type { Answer, HostilePlatform } from './hostile-platform.ts'

/** The key whose every trace is looked for. */
export const KEY = 'fk-Qx7Zp+9/vL2mR8tN4kW6yB1sD5'
const BASE64 = Buffer.from(`user:${KEY}`).toString('base64')
const SPELLINGS = [
  KEY,
  encodeURIComponent(KEY),
  JSON.stringify(KEY).replaceAll('/', '\\/').slice(1, -1),
  Buffer.from(KEY).toString('hex'),
  ...[0, 1, 2].map((at) =>
    Buffer.from(`${'u:'.slice(0, at)}${KEY}`)
      .toString('base64')
      .slice(4, -4),
  ),
]
/** A key that is cut off is known by so many of its characters. */
const PIECE = 12
const PIECES = Array.from({ length: KEY.length - PIECE + 1 }, (_, at) => KEY.slice(at, at + PIECE))

/** Everything that a proxy may add to an answer. */
const HEADERS = {
  'x-request-id': `req-${KEY}`,
  'ratelimit-policy': `"${KEY}";q=1000;w=1`,
  ratelimit: `"${KEY}";r=999;t=1`,
  etag: KEY,
  'x-authorization': `Bearer ${KEY}`,
}

/** Refuses everything, and quotes the key wherever a Problem has room for it. */
export function problem(status: number, headers: Readonly<Record<string, string>> = {}) {
  const body = JSON.stringify({
    title: `not with ${KEY}`,
    detail: `Bearer ${KEY}; ${encodeURIComponent(KEY)}; Basic ${BASE64}; ${KEY.slice(0, 18)}…; …${KEY.slice(-14)}`,
    status,
    requestId: `req-${KEY}`,
    metadata: { [KEY]: KEY, header: `Bearer ${KEY}` },
  })
  const type = 'application/problem+json'
  return (): Answer => ({ status, headers: { ...HEADERS, ...headers, 'content-type': type }, body })
}

function echoing(change: (body: string) => string) {
  return (answer: Answer): Answer => ({
    ...answer,
    headers: { ...answer.headers, ...HEADERS },
    body: answer.status < 300 ? change(answer.body) : answer.body,
  })
}

/** Values that are text to the platform, with the key in each of its spellings. */
export const inValues = echoing((body) =>
  body
    .replaceAll('@', `+${KEY}@`)
    .replaceAll('"model_id":"', `"model_id":"\\u0066${KEY.slice(1)} `)
    .replaceAll('"title":"', `"title":"${encodeURIComponent(KEY)} `)
    .replaceAll('"text":"', `"text":"${BASE64} ${KEY.replaceAll('/', '\\/')} `)
    .replaceAll('"client":"', `"client":"${KEY} `)
    .replace(/\}\s*$/, `,"echo":{"${KEY}":["${KEY}"]}}`)
    .replaceAll('{"date":', `{"echo_of_${KEY}":"${KEY}","date":`),
)

/** How an answer may quote the key, so that nothing lands. */
export const WAYS: readonly [string, (answer: Answer) => Answer][] = [
  [
    'in the cursor',
    echoing((body) =>
      body.replace(/"has_more":\s*false/, `"has_more":true,"next_cursor":"${KEY}"`),
    ),
  ],
  ['in the date of a row', echoing((body) => body.replace(/"date":\s*"[^"]*"/, `"date":"${KEY}"`))],
  [
    'in the first day of the answer',
    echoing((body) => body.replace(/"start_date":\s*"[^"]*"/, `"start_date":"${KEY}"`)),
  ],
  [
    'in the organisation',
    echoing((body) => body.replace(/"org_id":\s*"[^"]*"/, `"org_id":"${KEY}"`)),
  ],
  ['in an answer that is no JSON', echoing(() => `<html>${KEY} ${BASE64}`)],
  ['in a 400', problem(400)],
  ['in a 429', problem(429, { 'retry-after': '86400', 'x-ratelimit-reset': KEY })],
]

/** How a command may be asked to say more. */
const LOUD: Readonly<Record<string, readonly string[]>> = {
  sync: ['--log', 'json'],
  run: ['--log', 'text'],
  build: ['--log', 'json'],
  doctor: ['--json'],
  plan: ['--json'],
  demo: ['--log', 'json'],
}

/** Runs the commands on the platform, and expects that none shows the key and no file holds it. */
export async function expectNoKey(
  platform: HostilePlatform,
  isRun: (invocation: Invocation) => boolean = () => true,
): Promise<{ readonly shown: readonly Shown[]; readonly files: number }> {
  const folder = await temporaryFolder()
  const environment = { ...platform.environment, AGENT_WAREHOUSE_DATA: join(folder, 'data') }
  const [session = ''] = platform.emulator.sessionIds()
  const [message = ''] = platform.emulator.messageIds(session)
  const text = `AGENT_API_KEY='${KEY}' curl -H "Authorization: Bearer ${KEY}"`
  const all = await everyCommand({ session, message, email: 'a@b.test', text })
  const shownOf = async (invocation: Invocation): Promise<Shown> => {
    const [name = ''] = invocation.args
    const args = [...invocation.args, '--debug', ...(LOUD[name] ?? [])]
    const outcome = await run({ ...invocation, args }, environment, folder)
    expectClean(args.join(' '), outcome.out + outcome.err)
    return outcome
  }
  const shown: Shown[] = []
  for (const invocations of roundsOf(all.filter(isRun))) {
    shown.push(...(await Promise.all(invocations.map(shownOf))))
  }
  return { shown, files: await expectCleanFiles(folder) }
}

/** Commands that only speak with the platform: what they wait for before they ask again adds up. */
const SPEAKING = new Set(['controls', 'limits', 'readiness', 'computers', 'sessions', 'messages'])

/** One command after the other, but those that only speak with the platform at once. */
function roundsOf(invocations: readonly Invocation[]): (readonly Invocation[])[] {
  const rounds: Invocation[][] = []
  let isSpeaking = false
  for (const invocation of invocations) {
    const speaks = SPEAKING.has(invocation.args[0] ?? '')
    if (speaks && isSpeaking) rounds.at(-1)?.push(invocation)
    else rounds.push([invocation])
    isSpeaking = speaks
  }
  return rounds
}

function expectClean(what: string, text: string): void {
  const found = [...SPELLINGS, ...PIECES].find((each) => text.includes(each))
  if (found === undefined) return
  const at = text.indexOf(found)
  throw new Error(`${what} shows the key: ${text.slice(Math.max(0, at - 80), at + 80)}`)
}

/** The text of every file, of Parquet and DuckDB every value. */
async function expectCleanFiles(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true })
  await using database = await Database.open(':memory:')
  for (const name of names) {
    expectClean('the name of a file', name)
    const path = join(folder, name)
    if (!(await stat(path)).isFile()) continue
    expectClean(name, (await readFile(path)).toString('latin1'))
    if (name.endsWith('.parquet')) {
      const rows = await database.rows(`from read_parquet(${literal(path)})`)
      expectClean(name, JSON.stringify(rows))
    }
    if (name.endsWith('.duckdb')) expectClean(name, await valuesOf(database, path))
  }
  return names.length
}

async function valuesOf(database: Database, path: string): Promise<string> {
  await database.run(`attach ${literal(path)} as db (read_only)`)
  const tables = await database.rows(
    "select schema_name s, table_name t from duckdb_tables() where database_name = 'db' and not internal",
  )
  const all = []
  for (const { s, t } of tables) {
    all.push(
      await database.rows(
        `from db.${identifier(z.string().parse(s))}.${identifier(z.string().parse(t))}`,
      ),
    )
  }
  await database.run('detach db')
  return JSON.stringify(all)
}
