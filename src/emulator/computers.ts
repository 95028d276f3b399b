import { keyOf, uuidOf } from './random.ts'
import { badRequest, Refusal } from './problems.ts'
import { notFound } from './queries.ts'
import { SECRETS } from './secrets.ts'
import type { Sessions } from './sessions.ts'

/** A step of the provisioning; its status follows from the time. */
interface Step {
  readonly id: string
  readonly name: string
  readonly startsAt: number
  readonly endsAt: number
  /** Null when it comes to a good end. */
  readonly error: string | null
  readonly installSessionId: string | null
}

/** What a computer is made of; its status follows from the time. */
export interface ComputerRecord {
  readonly id: string
  readonly key: number
  readonly name: string
  readonly isManaged: boolean
  readonly createdAt: number
  readonly steps: readonly Step[]
  /** Restarting until then; milliseconds. */
  readonly restartsUntil: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** How long an install of dependencies takes, and a restart. */
const INSTALL_MS = 30_000
const RESTART_MS = 10_000
const LONGEST_NAME = 63

interface Cast {
  readonly name: string
  readonly isManaged: boolean
  /** Milliseconds before the platform was started. */
  readonly age: number
  readonly error?: string
}

/** The third is being provisioned when the platform starts, the fourth as well, and will fail. */
const CAST: readonly Cast[] = [
  { name: 'build-farm', isManaged: true, age: 30 * 24 * HOUR },
  { name: "ml workbench / d'été", isManaged: false, age: 9 * 24 * HOUR },
  { name: 'nightly-runner', isManaged: true, age: MINUTE },
  {
    name: 'legacy-mac',
    isManaged: true,
    age: 2 * MINUTE,
    error: `npm ci: 401 with the key ${SECRETS.stepErrorToken}`,
  },
]

/** The ids of the computers that the platform starts with. */
export function computerIds(seed: number): readonly string[] {
  return CAST.map((_, index) => uuidOf(keyOf(seed, 'computer', index)))
}

export type Computers = ReturnType<typeof createComputers>

/**
 * The computers of the organisation, held as long as the platform runs. For an id that
 * there is not each throws Refusal 404.
 */
export function createComputers(seed: number, now: () => number, sessions: Sessions) {
  const records = new Map<string, ComputerRecord>()
  const began = now()
  for (const [index, cast] of CAST.entries()) {
    const record = madeUp(seed, index, cast, began - cast.age, sessions)
    records.set(record.id, record)
  }
  const find = (id: string): ComputerRecord => {
    const record = records.get(id)
    if (record === undefined) throw notFound('computer', id)
    return record
  }
  const change = (record: ComputerRecord): void => {
    records.set(record.id, record)
  }

  return {
    list: (): object => ({ computers: [...records.values()].map((each) => answerOf(each, now())) }),
    find,
    read: (id: string): object => answerOf(find(id), now()),
    /** @throws Refusal 400 for a name that is not of 1 to 63 characters. */
    readByName: (name: string): object => {
      const { length } = Array.from(name)
      if (length < 1 || length > LONGEST_NAME) {
        throw badRequest(`the name has ${length} characters, not 1 to ${LONGEST_NAME}`)
      }
      const record = [...records.values()].find((each) => each.name === name)
      if (record === undefined) throw notFound('computer with the name', name)
      return answerOf(record, now())
    },
    /** @throws Refusal 409 while an install is running. */
    installDependencies: (id: string): object => {
      const record = find(id)
      change({ ...record, steps: installAgain(record, now(), sessions) })
      return answerOf(find(id), now())
    },
    refresh: (id: string): object => ({ configured: find(id).isManaged ? 2 : 1 }),
    /** @throws Refusal 400 for a computer that is not managed. */
    restart: (id: string): void => {
      const record = find(id)
      if (!record.isManaged) throw badRequest(`the computer '${id}' is not a managed one`)
      change({ ...record, restartsUntil: now() + RESTART_MS })
    },
    remove: (id: string): void => {
      records.delete(find(id).id)
    },
  }
}

/** When a computer first became active; infinite where it never did. */
export function activeFrom({ steps }: ComputerRecord): number {
  const isGood = steps.every(({ error }) => error === null)
  return isGood ? Math.max(...steps.map(({ endsAt }) => endsAt)) : Infinity
}

/** @throws Refusal 409 while an install is running. */
function installAgain(record: ComputerRecord, at: number, sessions: Sessions): readonly Step[] {
  return record.steps.map((step) => {
    if (step.id !== 'install-deps') return step
    if (stepStatus(step, at) === 'running') {
      throw new Refusal(
        409,
        'Conflict',
        `an install session is already running: ${step.installSessionId ?? ''}`,
      )
    }
    const installSessionId = sessions.install(record.id, at, INSTALL_MS)
    return { ...step, startsAt: at, endsAt: at + INSTALL_MS, error: null, installSessionId }
  })
}

function madeUp(
  seed: number,
  index: number,
  { name, isManaged, error }: Cast,
  createdAt: number,
  sessions: Sessions,
): ComputerRecord {
  const key = keyOf(seed, 'computer', index)
  const id = uuidOf(key)
  const installs = createdAt + 3 * MINUTE
  const plain = { error: null, installSessionId: null }
  return {
    id,
    key,
    name,
    isManaged,
    createdAt,
    restartsUntil: 0,
    steps: [
      {
        ...plain,
        id: 'create-host',
        name: 'Create the host',
        startsAt: createdAt,
        endsAt: createdAt + MINUTE,
      },
      {
        ...plain,
        id: 'clone-repos',
        name: 'Clone the repositories',
        startsAt: createdAt + MINUTE,
        endsAt: installs,
      },
      {
        id: 'install-deps',
        name: 'Install the dependencies',
        startsAt: installs,
        endsAt: installs + INSTALL_MS,
        error: error ?? null,
        installSessionId: sessions.install(id, installs, INSTALL_MS),
      },
    ],
  }
}

function answerOf(record: ComputerRecord, now: number): object {
  const { id, key, name, isManaged, createdAt } = record
  const relay = `relay.acme.example/computers/${id}`
  return {
    id,
    name,
    providerType: isManaged ? 'sandbox-provider' : 'byom',
    createdAt,
    hostId: uuidOf(key + 1),
    hostname: `host-${key.toString(16)}`,
    status: statusOf(record, now),
    provisioningSteps: record.steps.map((step) => stepAnswer(step, now)),
    relayClientUrl: `wss://${relay}/client?token=${SECRETS.relayToken}`,
    relayAgentUrl: `wss://agent:${SECRETS.relayPassword}@${relay}/agent`,
    remoteUser: isManaged ? 'agent' : 'ada',
  }
}

function statusOf(record: ComputerRecord, now: number): string {
  if (now < record.restartsUntil) return 'provisioning'
  const statuses = record.steps.map((step) => stepStatus(step, now))
  if (statuses.includes('failed')) return 'error'
  return statuses.every((status) => status === 'completed') ? 'active' : 'provisioning'
}

function stepStatus({ startsAt, endsAt, error }: Step, now: number): string {
  if (now < startsAt) return 'pending'
  if (now < endsAt) return 'running'
  return error === null ? 'completed' : 'failed'
}

/** A step has only what is known of it by now. */
function stepAnswer(step: Step, now: number): object {
  const { id, name, startsAt, endsAt, error, installSessionId } = step
  const hasStarted = now >= startsAt
  const hasEnded = now >= endsAt
  return {
    id,
    name,
    status: stepStatus(step, now),
    ...(hasEnded && error !== null ? { error } : {}),
    ...(hasStarted ? { startedAt: startsAt } : {}),
    ...(hasEnded ? { completedAt: endsAt } : {}),
    ...(hasStarted && installSessionId !== null ? { installSessionId } : {}),
  }
}
