import { chmod, lstat, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { copyFolder } from '../../support/folders.ts'
import type { Outcome } from '../../support/command.ts'
import { ALONE, BUILT_ALONE, MESSAGE, SESSION, SLOW } from './common.ts'
import { another, eventsOf, json, ok, on, once, rowsOf, type Kit, type Rows } from './rows.ts'

const YESTERDAY = '2026-02-02'
const SILENT = ['--log', 'none']

/** The first and the last day of each request for days. */
function rangesOf(asked: readonly string[], resource: string): [first: string, last: string][] {
  return asked.flatMap((each) => {
    const url = new URL(each.split(' ')[1] ?? '', 'http://host')
    const [first, last] = ['startDate', 'endDate'].map((name) => url.searchParams.get(name) ?? '')
    if (!url.pathname.endsWith(`/${resource}`) || first === undefined || last === undefined)
      return []
    return [[first, last] as [string, string]]
  })
}

/** What a command asked of a platform of its own. */
interface Asked {
  readonly said: Outcome
  readonly requests: readonly string[]
  /** From the first request to the last. */
  readonly seconds: number
  /** The highest number of requests in flight. */
  readonly most: number
}

const NARROW = ['--concurrency', '1']
const WIDE = ['--concurrency', '4', '--rate', '10']

/** Runs a command whose platform is named by `--base-url` alone. */
async function ask(kit: Kit, args: readonly string[]): Promise<Asked> {
  let [now, most] = [0, 0]
  const times: number[] = []
  const { emulator, environment } = await another({
    intercept: async ({ answer }) => {
      times.push(performance.now())
      now += 1
      most = Math.max(most, now)
      const given = await answer()
      // Waits for a second request until two have been in flight.
      await new Promise((resolve) => setTimeout(resolve, most > 1 ? 5 : 150))
      now -= 1
      return given
    },
  })
  const nowhere = { ...environment, AGENT_BASE_URL: 'http://127.0.0.1:1' }
  const said = await ok(kit, [...args, '--base-url', emulator.url], { environment: nowhere })
  const requests = emulator.requests.map(({ method, path }) => `${method} ${path}`)
  return { said, requests, seconds: ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000, most }
}

type Asking = (kit: Kit) => Promise<Asked>

/** How fast and how long a command sends requests: with NARROW, with WIDE, and where it must wait. */
function pacing(narrow: Asking, wide: Asking, args: readonly string[]): Rows {
  return {
    'base-url': async (kit) => {
      expect((await narrow(kit)).requests.length).toBeGreaterThan(0)
    },
    rate: async (kit) => {
      const { requests, seconds } = await wide(kit)
      // After a pause, the requests of one second may go at once.
      expect(requests.length).toBeGreaterThan(10)
      expect(requests.length).toBeLessThanOrEqual(10 * (seconds + 1) + 1)
    },
    concurrency: async (kit) => {
      expect((await narrow(kit)).most).toBe(1)
      expect((await wide(kit)).most).toBeGreaterThan(1)
    },
    'max-duration': async (kit) => {
      let count = 0
      const { environment } = await another({
        intercept: () =>
          (count += 1) > 3
            ? new Response('{}', { status: 429, headers: { 'retry-after': '3600' } })
            : undefined,
      })
      const { code } = await kit.go([...args, '--max-duration', '10m'], { environment })
      expect(code).toBe(4)
    },
  }
}

/** Rows of the commands that fetch days: what they request from the platform, in two runs. */
function asking(command: string): Rows {
  const [first, last] = ['2026-01-16', '2026-01-20']
  const range = [...SILENT, '--from', first, '--to', last]
  const named = ['--session', SESSION, '--message', `${SESSION}/${MESSAGE}`]
  const only = ['--only', 'tokens,tokens_by_model,activity,activity_by_client,sessions,messages']
  const narrow = once((kit) =>
    ask(kit, [command, ...range, ...only, ...named, '--refetch', ...NARROW]),
  )
  const users = [command, ...SILENT, '--refetch', '--only', 'users']
  const wide = once((kit) => ask(kit, [...users, ...WIDE]))
  // The first request, for yesterday, identifies the organisation and the date.
  const rangesIn = (requests: readonly string[]): [string, string][] =>
    rangesOf(requests, 'tokens').filter(([from]) => from !== YESTERDAY)
  return rowsOf(command, {
    from: async (kit) => {
      const days = rangesIn((await narrow(kit)).requests).map(([from]) => from)
      expect(days.sort()[0]).toBe(first)
    },
    to: async (kit) => {
      const days = rangesIn((await narrow(kit)).requests).map(([, to]) => to)
      expect(days.sort().at(-1)).toBe(last)
    },
    only: async (kit) => {
      const { requests } = await narrow(kit)
      expect(rangesIn(requests)).not.toEqual([])
      const others = /\/(users|tools|productivity|computers)/
      expect(requests.filter((each) => others.test(each))).toEqual([])
    },
    session: async (kit) => {
      const one = expect.stringMatching(`^GET /api/v0/sessions/${SESSION}$`) as unknown
      expect((await narrow(kit)).requests).toContainEqual(one)
    },
    message: async (kit) => {
      const one = `GET /api/v0/sessions/${SESSION}/messages/${MESSAGE}`
      expect((await narrow(kit)).requests).toContainEqual(expect.stringContaining(one))
    },
    refetch: async (kit) => {
      expect(rangesIn((await narrow(kit)).requests)).not.toEqual([])
      const asked = kit.asked()
      await ok(kit, ['sync', ...range, '--only', 'tokens'])
      expect(rangesIn(asked())).toEqual([])
    },
    ...pacing(narrow, wide, users),
  })
}

interface Plan {
  readonly tasks: { resource: string; days: { activity_date: string; reason: string }[] }[]
  readonly entities: { resource: string; requests: number }[]
}

/** The plan for an empty data folder. */
async function planOf(kit: Kit, ...flags: string[]): Promise<Plan> {
  const plans = await json(kit, ['plan', '--json', ...flags], on(join(kit.here, 'none')))
  const [plan] = plans as Plan[]
  if (plan === undefined) throw new Error('there is no plan')
  return plan
}

function daysOf({ tasks }: Plan): string[] {
  return [...new Set(tasks.flatMap(({ days }) => days.map((each) => each.activity_date)))].sort()
}

const PLAN = rowsOf('plan', {
  from: async (kit) => {
    const plan = await planOf(kit, '--from', '2026-01-30')
    expect(daysOf(plan)[0]).toBe('2026-01-30')
    // an ordinary night with a shorter history
    expect(plan.entities.map(({ resource }) => resource)).toContain('usage_limits')
  },
  to: async (kit) => {
    const plan = await planOf(kit, '--to', '2026-01-15')
    expect(daysOf(plan)).toEqual(['2026-01-14', '2026-01-15'])
    expect(plan.entities).toEqual([])
  },
  only: async (kit) => {
    const { tasks, entities } = await planOf(kit, '--only', 'tools,computers')
    expect([...new Set(tasks.map(({ resource }) => resource))]).toEqual(['tools'])
    expect(entities.map(({ resource }) => resource)).toEqual(['computers'])
  },
  session: async (kit) => {
    const { entities } = await planOf(kit, '--only', 'sessions', '--session', 'a', '--session', 'b')
    expect(entities.map(({ requests }) => requests)).toEqual([2])
  },
  message: async (kit) => {
    const { entities } = await planOf(kit, '--only', 'messages', '--message', 'a/b')
    expect(entities.map(({ requests }) => requests)).toEqual([1])
  },
  refetch: async (kit) => {
    const args = ['plan', '--json', '--only', 'tokens', '--to', '2026-01-15']
    const [without] = (await json(kit, args)) as Plan[]
    const [forced] = (await json(kit, [...args, '--refetch'])) as Plan[]
    const reasons = (plan: Plan | undefined): (string | undefined)[] =>
      (plan?.tasks ?? []).flatMap(({ days }) => days.map(({ reason }) => reason))
    expect(reasons(without)).not.toContain('forced')
    expect(reasons(forced)).toEqual(['forced', 'forced'])
  },
})

/** The models that the build with BUILT_ALONE rebuilt. */
async function builtAlone(kit: Kit): Promise<(string | undefined)[]> {
  const events = eventsOf((await SLOW.build.all(kit)).said)
  return events.flatMap(({ type, model }) => (type === 'model.built' ? [model] : []))
}

const BUILD = rowsOf('build', {
  select: async (kit) => {
    expect((await builtAlone(kit)).sort()).toEqual(ALONE)
  },
  exclude: async (kit) => {
    expect(await builtAlone(kit)).not.toContain('fct_tool_day')
  },
  'full-refresh': async (kit) => {
    const reasonsIn = (said: Outcome): (string | undefined)[] =>
      eventsOf(said)
        .filter(({ type }) => type === 'model.refreshed')
        .map(({ reason }) => reason)
    expect(reasonsIn(await ok(kit, ['build', '--log', 'json', ...BUILT_ALONE]))).toEqual([])
    const reasons = reasonsIn((await SLOW.build.all(kit)).said)
    expect(reasons.length).toBeGreaterThan(0)
    expect(new Set(reasons)).toEqual(new Set(['--full-refresh']))
  },
  'as-of': async (kit) => {
    const { data } = await twiceOf(kit)
    expect((await ok(kit, ['status'], on(data))).out).toContain('as it was known at')
    const early = await kit.go(['build', ...SILENT, '--as-of', '2026-01-01'], on(data))
    expect(early.code).toBe(2)
    expect(early.err).toContain('nothing had landed by 2026-01-01')
    const late = await kit.go(['build', ...SILENT, '--as-of', '2999-01-01'], on(data))
    expect(late.code).toBe(2)
    expect(late.err).toContain('--as-of: 2999-01-01T23:59:59.999Z is in the future')
  },
  plan: async (kit) => {
    const folder = await kit.copy()
    const data = on(folder)
    const before = await readdir(join(folder, 'runs'))
    const select = ['--select', 'fct_org_day', '--json']
    const planned = await json(kit, ['build', '--plan', '--full-refresh', ...select], data)
    expect(planned).toEqual([{ model: 'fct_org_day', action: 'create', reason: '--full-refresh' }])
    const none = await ok(kit, ['build', '--plan', '--exclude', '*'])
    expect(none.out).toBe('No model is selected.\n')
    const { out } = await ok(kit, ['build', '--plan'])
    expect(out).toMatch(/^int_fact_days +reuse +the same rows$/m)
    expect(await readdir(join(folder, 'runs'))).toEqual(before)
  },
  retry: async (kit) => {
    const { code, err } = await kit.go(['build', ...SILENT, '--retry'])
    expect(code).toBe(2)
    expect(err).toContain('--retry: no build has failed')
  },
})

interface Verified {
  readonly sampled_days: number
  readonly history_days: number
  readonly compared: { readonly days: readonly string[] }
}

const verify = (...flags: string[]): Asking =>
  once((kit) => ask(kit, ['verify', '--json', ...SILENT, ...flags]))

const verifiedIn = ({ said }: { readonly said: Outcome }): Verified =>
  JSON.parse(said.out) as Verified

const [NARROWLY_VERIFIED, WIDELY_VERIFIED] = [
  verify('--from', '2026-01-31', '--to', '2026-02-01', ...NARROW),
  verify('--all', ...WIDE),
]

const VERIFY = rowsOf('verify', {
  days: async (kit) => {
    expect(verifiedIn(await SLOW.verify.all(kit)).compared.days).toHaveLength(2)
  },
  all: async (kit) => {
    const { compared, history_days } = verifiedIn(await WIDELY_VERIFIED(kit))
    expect(compared.days).toHaveLength(history_days)
    expect(history_days).toBe(20)
  },
  from: async (kit) => {
    const [first] = [...verifiedIn(await NARROWLY_VERIFIED(kit)).compared.days].sort()
    expect(first).toBe('2026-01-31')
  },
  to: async (kit) => {
    const { compared } = verifiedIn(await NARROWLY_VERIFIED(kit))
    expect([...compared.days].sort()).toEqual(['2026-01-31', '2026-02-01'])
  },
  ...pacing(NARROWLY_VERIFIED, WIDELY_VERIFIED, ['verify', ...SILENT]),
})

/** A data folder that a build `--as-of` published once more, and the run that published before. */
interface Twice {
  readonly data: string
  readonly first: string
}

/** One for all its rows, which only read or copy it. */
const twiceOf = once(publishAgain)

async function publishAgain(kit: Kit): Promise<Twice> {
  const data = await kit.copy()
  const listed = await json(kit, ['rollback', '--list', '--json'], on(data))
  const published = (listed as { run_id: string }[]).at(-1)
  await ok(kit, ['build', ...SILENT, '--as-of', new Date().toISOString()], on(data))
  return { data, first: published?.run_id ?? '' }
}

const ROLLBACK = rowsOf('rollback', {
  list: async (kit) => {
    const { data, first } = await twiceOf(kit)
    const { out } = await ok(kit, ['rollback', '--list'], on(data))
    expect(out).toContain(first)
    expect(out.match(/ built .* [kM]B/g)?.length).toBeGreaterThan(1)
  },
  to: async (kit) => {
    const { data: kept, first } = await twiceOf(kit)
    const data = join(kit.here, 'data')
    await copyFolder(kept, data)
    await ok(kit, ['rollback', ...SILENT, '--to', first], on(data))
    expect((await ok(kit, ['status'], on(data))).out).toContain(`to the file of run ${first}`)
  },
})

const SERVE: Rows = {
  'report --format': async (kit) => {
    const { out } = await ok(kit, ['report', '--format', 'md'])
    expect(out).toContain('report.md')
  },
  'report --people': async (kit) => {
    expect((await ok(kit, ['report', '--people'])).out).toContain('report.html')
  },
  'report --org': async (kit) => {
    expect((await kit.go(['report', '--org', 'unknown'])).code).toBe(2)
    for (const names of ['default', 'default, default']) {
      const { out } = await ok(kit, ['report', '--org', names])
      expect(out).toContain('  org_')
    }
  },
  'report --out': async (kit) => {
    const path = join(await kit.copy(), 'out.html')
    expect((await ok(kit, ['report', '--out', path])).out).toContain(path)
    const link = join(dirname(path), 'link.html')
    await writeFile(path, 'old')
    await symlink(path, link)
    await ok(kit, ['report', '--out', link])
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    expect(await readFile(path, 'utf8')).toContain('<main')
  },
  'docs --out': async (kit) => {
    const path = join(await kit.copy(), 'out.html')
    expect((await ok(kit, ['docs', '--out', path])).out).toContain(path)
  },
  'build --engine': async (kit) => {
    const { out } = await ok(kit, ['build', '--plan', '--engine', 'duckdb'])
    expect(out).toContain('fct_org_day')
  },
  'query --format': async (kit) => {
    const query = ['query', "select 1 as n, 'a,b' as t", '--format']
    expect((await ok(kit, [...query, 'csv'])).out).toBe('n,t\n1,"a,b"\n')
    expect(await json(kit, [...query, 'json'])).toEqual([{ n: 1, t: 'a,b' }])
    expect((await ok(kit, [...query, 'table'])).out).toContain('n | t')
  },
  'query --analysis': async (kit) => {
    const answer = await json(kit, ['query', '--analysis', 'data_health', '--json'])
    expect(answer).toMatchObject([{ verdict: expect.stringMatching(/^\w+$/) as unknown }])
  },
  'query --list': async (kit) => {
    expect((await ok(kit, ['query', '--list'])).out).toContain('data_health')
  },
  'doctor --all': async (kit) => {
    const data = await kit.copy()
    const folder = join(data, 'lake', 'raw', 'tools')
    const [name = ''] = (await readdir(folder, { recursive: true })).filter((each) =>
      each.endsWith('.parquet'),
    )
    const path = join(folder, name)
    const [bytes, { atime, mtime }] = [await readFile(path), await stat(path)]
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    await chmod(path, 0o600)
    await writeFile(path, bytes)
    await utimes(path, atime, mtime)
    const damaged = /^wrong +contents/m
    expect((await kit.go(['doctor'], on(data))).out).not.toMatch(damaged)
    expect((await kit.go(['doctor', '--all'], on(data))).out).toMatch(damaged)
  },
}

const COMPACT: Rows = {
  'compact --dry-run': async (kit) => {
    const data = await kit.copy()
    const runs = await readdir(join(data, 'runs'))
    const { out } = await ok(kit, ['compact', '--dry-run'], on(data))
    expect(out).toMatch(/^Nothing to merge/)
    expect(await readdir(join(data, 'runs')), 'a dry run is not recorded').toEqual(runs)
  },
}

export const PIPELINE: Rows = {
  ...asking('run'),
  ...asking('sync'),
  ...PLAN,
  ...BUILD,
  ...VERIFY,
  ...ROLLBACK,
  ...SERVE,
  ...COMPACT,
}
