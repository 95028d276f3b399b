import { describe, expect, it } from 'vitest'
import { DEMO_SECRETS } from '../../src/emulator/emulator.ts'
import { linesOf, NOW, stage, type Stage } from './platform-stage.ts'

const FARM = 'build-farm'
/** Managed by its owner alone; its name needs encoding in a path. */
const OWN = "ml workbench / d'été"

interface Computer {
  readonly id: string
  readonly name: string
}

async function idOf({ run }: Stage, name: string): Promise<string> {
  const computers = JSON.parse((await run(['computers', 'list', '--json'])).out) as Computer[]
  return computers.find((each) => each.name === name)?.id ?? ''
}

describe('computers', () => {
  it('list and show find a computer by id or name, and print no secrets', async () => {
    const platform = await stage()
    const id = await idOf(platform, OWN)
    const results = await Promise.all([
      platform.run(['computers', 'list']),
      platform.run(['computers', 'list', '--json']),
      platform.run(['computers', 'show', OWN]),
      platform.run(['computers', 'show', id, '--json']),
      platform.run(['computers', 'show', 'legacy-mac']),
    ])
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
    const [list, , show, json] = results
    expect(list.out).toMatch(/^\S+ +\| build-farm +\| active +\| sandbox-provider \| host-\w+ /m)
    expect(show.out).toMatch(/^created at +2026-\d\d-\d\dT\d\d:\d\d:\d\dZ$/m)
    expect(show.out).toMatch(/^relay for clients +wss:\/\/\S+\?token=\[redacted:\w{8}\]$/m)
    expect(show.out).toMatch(/^install-deps +\| completed \|/m)
    expect(JSON.parse(json.out)).toMatchObject({ id, name: OWN })
    const all = results.map(({ out, err }) => out + err).join('')
    expect(DEMO_SECRETS.filter((secret) => all.includes(secret))).toEqual([])
  })

  it('metrics prints samples, and only those since --start', async () => {
    const { run } = await stage()
    const { code, out } = await run(['computers', 'metrics', FARM])
    expect(code).toBe(0)
    expect(linesOf(out)[0]).toMatch(/^sampled_at +\| cpuUsedPct \| cpuCount \| +memUsed/)
    const start = new Date(NOW - 3_600_000).toISOString()
    const late = await run(['computers', 'metrics', FARM, '--start', start, '--json'])
    const samples = JSON.parse(late.out) as { timestamp: string }[]
    expect(samples.length).toBeGreaterThan(0)
    expect(samples.every(({ timestamp }) => timestamp >= start)).toBe(true)
  })

  it.each([
    ['refresh', /^build-farm \(\S+\): 2 integrations were configured$/m, { configured: 2 }],
    ['restart', /^build-farm \(\S+\) is restarting/m, { restarted: true }],
    ['install-deps', /^The dependencies of build-farm/m, { computer: { name: FARM } }],
    ['delete', /^build-farm \(\S+\) is deleted$/m, { deleted: true }],
  ])('%s is done after a confirmation, and the result is printed', async (verb, said, made) => {
    const platform = await stage()
    const id = await idOf(platform, FARM)
    const text = await platform.run(['computers', verb, FARM], { answers: 'yes' })
    expect(text.code, text.err).toBe(0)
    expect(text.err).toMatch(new RegExp(`build-farm \\(${id}\\).*\\. Continue\\? \\[y/N\\]`))
    expect(text.out).toMatch(said)
    const path = `/api/v0/computers/${id}`
    expect(platform.changes()).toEqual([
      verb === 'delete' ? `DELETE ${path}` : `POST ${path}/${verb}`,
    ])
    const other = await stage()
    const json = await other.run(['computers', verb, FARM, '--yes', '--json'])
    expect(JSON.parse(json.out)).toMatchObject({
      computer_id: id,
      computer_name: FARM,
      ...made,
    })
  })

  it('delete names the computer and its state in the question; the computer is gone afterwards', async () => {
    const { run } = await stage()
    const { err } = await run(['computers', 'delete', FARM], { answers: 'y' })
    expect(err).toMatch(/^delete the computer build-farm \(\S+\), which is active now\. Continue\?/)
    expect(await run(['computers', 'delete', FARM, '--yes'])).toMatchObject({ code: 2, out: '' })
  })
})

describe('a computers command that cannot succeed', () => {
  it.each([
    ['an unknown computer', ['show', 'nix'], /404 Not Found: there is no computer .*'nix'/],
    ['a name that is too long', ['show', 'x'.repeat(64)], /404 Not Found/],
    ['an empty name', ['show', ''], /argument 3 is empty/],
    ['a path instead of an id', ['delete', '..', '--yes'], /'\.\.' is not an id/],
    ['deleting an unknown computer', ['delete', 'nix', '--yes'], /404 Not Found/],
    [
      'restarting a computer that is not managed',
      ['restart', OWN, '--yes'],
      /400 Bad Request: .*managed/,
    ],
    ['an invalid --start', ['metrics', FARM, '--start', 'noon'], /start: 'noon' is not a time/],
    ['waiting for an unknown computer', ['wait', 'nix'], /404 Not Found/],
    [
      'waiting for zero seconds',
      ['wait', FARM, '--timeout', '0s'],
      /--timeout: '0s' is not a duration/,
    ],
  ])('%s exits with code 2 and an error message', async (_, args, message) => {
    const { run } = await stage()
    const { code, out, err } = await run(['computers', ...args])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)[0]).toMatch(message)
    expect(linesOf(err).length).toBeLessThanOrEqual(2)
  })

  it('install-deps during an install exits with code 2 and points to computers wait', async () => {
    const { run, changes } = await stage()
    const install = ['computers', 'install-deps', FARM, '--yes']
    expect((await run(install)).code).toBe(0)
    const { code, out, err } = await run(install)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)).toEqual([
      expect.stringMatching(/409 Conflict: an install session is already running/),
      expect.stringContaining('computers wait'),
    ])
    expect(changes()).toHaveLength(2)
  })
})

describe('a name that two computers have', () => {
  const twin = (id: string) => ({ id, name: 'twin', providerType: 'byom', createdAt: NOW })
  const answers = new Map<string, unknown>([
    ['/api/v0/computers', { computers: [twin('one'), twin('two')] }],
    ['/api/v0/computers/name/twin', twin('one')],
    ['/api/v0/computers/two', twin('two')],
  ])
  const twins = () =>
    stage({
      intercept: ({ path, method }) =>
        method === 'GET' && answers.has(path) ? Response.json(answers.get(path)) : undefined,
    })

  it.each([
    ['show', []],
    ['metrics', []],
    ['wait', []],
    ['restart', ['--yes']],
    ['delete', ['--yes']],
    ['delete', ['--dry-run']],
  ])('is refused by %s %j, which names their ids', async (verb, flags) => {
    const { run, changes } = await twins()
    const { code, out, err } = await run(['computers', verb, 'twin', ...flags])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(linesOf(err)).toEqual([
      "agent-warehouse: 2 computers have the name 'twin'",
      '  Use the id of one of them: one, two',
    ])
    expect(changes()).toEqual([])
  })

  it('is not needed where an id is given', async () => {
    const { run } = await twins()
    const { code, out, err } = await run(['computers', 'show', 'two'])
    expect(code, err).toBe(0)
    expect(out).toMatch(/^id +two$/m)
  })
})

describe('computers wait', () => {
  /** The platform's clock advances by `step` with every request. */
  function clock(step: number): () => number {
    let now = NOW - step
    return () => (now += step)
  }
  const wait = (name: string): string[] => ['computers', 'wait', name, '--interval', '0.01s']

  it('exits with code 0 when the computer is active, and prints each state once', async () => {
    const { run } = await stage({ now: clock(5_000) })
    const { code, out, err } = await run(wait('nightly-runner'))
    expect(code, err).toBe(0)
    expect(out).toMatch(/^nightly-runner \(\S+\) is active$/m)
    const states = linesOf(err)
    expect(states.length).toBeGreaterThan(1)
    expect(new Set(states).size).toBe(states.length)
    expect(states[0]).toContain('is provisioning')
  })

  it('exits with code 0 when the install has finished', async () => {
    const { run } = await stage({ now: clock(500) })
    expect((await run(['computers', 'install-deps', FARM, '--yes'])).code).toBe(0)
    const { code, out, err } = await run([...wait(FARM), '--json'])
    expect(code, err).toBe(0)
    expect(err).toContain('install-deps running')
    expect(JSON.parse(out)).toMatchObject({ name: FARM, status: 'active' })
  })

  it('exits with code 1 when the computer is in error, and says why without secrets', async () => {
    const { run } = await stage({ now: clock(5_000) })
    const { code, out, err } = await run(wait('legacy-mac'))
    expect(code).toBe(1)
    expect(out).toMatch(/is error, install-deps failed: npm ci: 401 with the key \[redacted:\w+\]/)
    expect(DEMO_SECRETS.filter((secret) => (out + err).includes(secret))).toEqual([])
  })

  it('exits with code 4 when --timeout has passed', async () => {
    const { run } = await stage()
    const { code, out, err } = await run([...wait('nightly-runner'), '--timeout', '0.1s'])
    expect({ code, out }).toEqual({ code: 4, out: '' })
    expect(linesOf(err).at(-2)).toMatch(/timed out: nightly-runner \S+ is provisioning/)
    expect(linesOf(err).at(-1)).toContain('--timeout')
  })
})
