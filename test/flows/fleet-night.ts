import { chmod, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/config.ts'
import type { Emulator, Intercept } from '../../src/emulator/emulator.ts'
import { LedgerFile } from '../../src/lake/ledger.ts'
import { RESOURCES } from '../../src/lake/resources.ts'
import type { RunEvent } from '../../src/lib/events.ts'
import { landOrganisations, type SyncSelection } from '../../src/pipeline/sync.ts'
import type { SyncOutcome } from '../../src/pipeline/outcome.ts'
import { temporaryFolder, testWorld } from '../support/helpers.ts'
import { standIn } from '../support/stand-in.ts'

export const NOW = Date.parse('2026-01-18T06:00:00Z')
export const DAYS = 4

const resources = RESOURCES.filter(({ name }) => ['tokens', 'tools'].includes(name))
export const ANALYTICS: SyncSelection = { resources, entities: { resources: [] } }

/** A platform of six organisations; their numbers stand in their keys and ids. */
export async function platform(intercept?: Intercept): Promise<Emulator> {
  const emulator = await standIn({
    users: 3,
    organisations: 6,
    now: () => NOW,
    ...(intercept === undefined ? {} : { intercept }),
  })
  return emulator
}

/** The number of the organisation that a request is for. */
export function askedFor(headers: Headers): number {
  return Number(/-(\d+)$/.exec(headers.get('authorization') ?? '')?.[1] ?? 1)
}

/** An address at which nothing listens. */
export async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' ? `http://127.0.0.1:${address?.port ?? 0}` : ''
}

interface Listed {
  readonly name: string
  readonly url: string
  readonly key: string
}

/** Lands what is due for a list of organisations; `onEvent` gets each event. */
export async function landed(
  organisations: readonly Listed[],
  options: {
    readonly data?: string
    readonly atOnce?: number
    readonly selection?: SyncSelection
    readonly runForMs?: number
    readonly now?: number
    /** Default: lands only. */
    readonly work?: typeof landOrganisations
    readonly onEvent?: (event: RunEvent, stop: AbortController) => void
  } = {},
): Promise<{ outcome: SyncOutcome; data: string; events: readonly RunEvent[] }> {
  const data = options.data ?? (await temporaryFolder())
  const lines = organisations.map(({ name, url }, at) => `${name},${url},KEY_${at}`)
  const files = {
    'organisations.csv': ['name,base_url,key_env', ...lines, ''].join('\n'),
    'agent-warehouse.yaml': `organisations: organisations.csv\norganisations_at_once: ${options.atOnce ?? 2}\n`,
  }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(data, name), text)
    await chmod(join(data, name), 0o600)
  }
  const keys = organisations.map(({ key }, at) => [`KEY_${at}`, key] as const)
  const config = loadConfig({ data }, Object.fromEntries(keys), data)
  const { now = NOW, work = landOrganisations } = options
  const world = testWorld(now)
  const emit = (event: RunEvent): void => {
    world.emit(event)
    options.onEvent?.(event, world.stop)
  }
  const deadline = now + (options.runForMs ?? 3_600_000)
  const context = { config, world: { ...world, emit }, runId: 'run', deadline }
  const outcome = await work(context, options.selection ?? ANALYTICS)
  return { outcome, data, events: world.events }
}

export function listed({ url, keysOf }: Emulator, number: number): Listed {
  return { name: `number ${number}`, url, key: keysOf(number).owner }
}

/** How many days of an organisation have landed. */
export async function daysOf(data: string, orgId: string): Promise<number> {
  const ledger = await LedgerFile.read(data, orgId)
  return [...ledger.values()].filter(({ file }) => file !== null).length
}
