import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { Database, identifier, literal } from '../../src/lib/duckdb.ts'
import { temporaryFolder } from '../support/helpers.ts'
import type { Outcome } from '../support/command.ts'
import { everyCommand, run, type Invocation } from './every-command.ts'
import type { Answer, HostilePlatform } from './hostile-platform.ts'
import { EVIL, expectNoControls } from './terminal.ts'

/** The key that must leave no trace. */
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
/** This many characters of a key that was cut off still count as the key. */
const PIECE = 12
const PIECES = Array.from({ length: KEY.length - PIECE + 1 }, (_, at) => KEY.slice(at, at + PIECE))

/** Headers that a proxy may add to a response. */
const HEADERS = {
  'x-request-id': `req-${KEY}`,
  'ratelimit-policy': `"${KEY}";q=1000;w=1`,
  ratelimit: `"${KEY}";r=999;t=1`,
  etag: KEY,
  'x-authorization': `Bearer ${KEY}`,
}

/** Refuses every request, with the key in every field of the Problem body. */
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

/** Text values with the key in each of its spellings. */
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

/** Places in a response for the key, so that nothing lands. */
export const WAYS: readonly [string, (answer: Answer) => Answer][] = [
  [
    'in the cursor',
    echoing((body) =>
      body.replace(/"has_more":\s*false/, `"has_more":true,"next_cursor":"${KEY}"`),
    ),
  ],
  ['in the date of a row', echoing((body) => body.replace(/"date":\s*"[^"]*"/, `"date":"${KEY}"`))],
  [
    'in start_date of the response',
    echoing((body) => body.replace(/"start_date":\s*"[^"]*"/, `"start_date":"${KEY}"`)),
  ],
  ['in org_id', echoing((body) => body.replace(/"org_id":\s*"[^"]*"/, `"org_id":"${KEY}"`))],
  ['in a response that is not JSON', echoing(() => `<html>${KEY} ${BASE64}`)],
  ['in a 400', problem(400)],
  ['in a 403', problem(403)],
  ['in a 429', problem(429, { 'retry-after': '86400', 'x-ratelimit-reset': KEY })],
]

/** Options with which a command prints more, or in another form. */
const FORMS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  sync: [['--log', 'json'], []],
  run: [['--log', 'text']],
  build: [['--log', 'json']],
  doctor: [['--json'], []],
  plan: [['--json'], []],
}

/**
 * Runs the commands on the platform, and expects that none shows the key or a control character,
 * and that no file holds the key.
 */
export async function expectNoKey(
  platform: HostilePlatform,
  isRun: (invocation: Invocation) => boolean,
  { inEveryForm = false } = {},
): Promise<{ readonly shown: readonly Outcome[]; readonly files: number }> {
  const folder = await temporaryFolder()
  const environment = { ...platform.environment, AGENT_WAREHOUSE_DATA: join(folder, 'data') }
  const [session = ''] = platform.emulator.sessionIds()
  const [message = ''] = platform.emulator.messageIds(session)
  const text = `AGENT_API_KEY='${KEY}' curl -H "Authorization: Bearer ${KEY}" ${EVIL}`
  const all = await everyCommand({ session, message, email: 'a@b.test', text })
  const inForms = all.filter(isRun).flatMap((invocation) => {
    const forms = FORMS[invocation.args[0] ?? ''] ?? [[]]
    return forms
      .slice(0, inEveryForm ? forms.length : 1)
      .map((form) => ({ ...invocation, args: [...invocation.args, '--debug', ...form] }))
  })
  const shownOf = async (invocation: Invocation): Promise<Outcome> => {
    const outcome = await run(invocation, environment, folder)
    const what = invocation.args.join(' ')
    expectClean(what, outcome.out + outcome.err)
    expectNoControls(what, outcome)
    return outcome
  }
  const shown: Outcome[] = []
  for (const invocations of roundsOf(inForms)) {
    shown.push(...(await Promise.all(invocations.map(shownOf))))
  }
  return { shown, files: await expectCleanFiles(folder) }
}

/** Commands that only talk to the platform; run one by one, the waits before their retries add up. */
const PLATFORM_COMMANDS = new Set([
  'controls',
  'limits',
  'readiness',
  'computers',
  'sessions',
  'messages',
])

/** One command after another, but neighbours that only talk to the platform together. */
function roundsOf(invocations: readonly Invocation[]): (readonly Invocation[])[] {
  const rounds: Invocation[][] = []
  let isParallel = false
  for (const invocation of invocations) {
    const talks = PLATFORM_COMMANDS.has(invocation.args[0] ?? '')
    if (talks && isParallel) rounds.at(-1)?.push(invocation)
    else rounds.push([invocation])
    isParallel = talks
  }
  return rounds
}

export function expectClean(what: string, text: string): void {
  const found = [...SPELLINGS, ...PIECES].find((each) => text.includes(each))
  if (found === undefined) return
  const at = text.indexOf(found)
  throw new Error(`${what} shows the key: ${text.slice(Math.max(0, at - 80), at + 80)}`)
}

/** Checks the bytes of every file, and every value in Parquet and DuckDB files. */
export async function expectCleanFiles(folder: string): Promise<number> {
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
