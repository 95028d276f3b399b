import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { landSpool } from '../../src/extract/entities/hooks.ts'
import { IntervalRecorder } from '../../src/extract/land/interval-recorder.ts'
import { dayOf, parseDay } from '../../src/lib/days.ts'
import { rawFolder } from '../../src/lake/layout.ts'
import { rememberOrganisation } from '../../src/lake/organisations.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import { command } from '../support/command.ts'
import { temporaryFolder, testWorld } from '../support/helpers.ts'
import { flip } from '../extract/three-days.ts'
import { landed, night, NIGHT, platform } from './entities-night.ts'

const SPOOL = 'state/hooks/spool'

async function spool(
  data: string,
  ...events: readonly { at: string; id: string; input?: unknown }[]
): Promise<void> {
  for (const { at, id, input = { hook_event_name: 'Stop' } } of events) {
    const name = `${at.replaceAll(/[-:.]/g, '')}-${id}.json`
    await writeAtomic(
      join(data, SPOOL, name),
      `${JSON.stringify({ event_id: id, recorded_at: at, input })}\n`,
    )
  }
}

/** Returns the warnings. */
async function land(
  data: string,
  hooksOf: string | null = null,
  onlyOrganisation?: string,
): Promise<string[]> {
  const world = testWorld(NIGHT)
  const owner = { organisationOfHookEvents: hooksOf, onlyOrganisation }
  await landSpool({ dataFolder: data, runId: 'run', world, ...owner })
  return world.events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
}

const idsOf = (items: readonly string[] | undefined): unknown[] =>
  (items ?? []).map((item) => (JSON.parse(item) as { event_id: unknown }).event_id).sort()

describe('recorded hook events', () => {
  it('land on the day they were recorded, and leave the spool', async () => {
    const data = await temporaryFolder()
    await spool(
      data,
      { at: '2026-03-08T23:59:59.999Z', id: 'a' },
      { at: '2026-03-09T00:00:00.000Z', id: 'b' },
      { at: '2026-03-09T12:00:00.000Z', id: 'c' },
    )
    await land(data)
    const days = await landed(data, 'hook_events', 'default')
    expect(idsOf(days['2026-03-08'])).toEqual(['a'])
    expect(idsOf(days['2026-03-09'])).toEqual(['b', 'c'])
    expect(await readdir(join(data, SPOOL))).toEqual([])
  })

  it('are added to a day that has landed, each once, even when they stayed in the spool', async () => {
    const data = await temporaryFolder()
    const [a, b] = [
      { at: '2026-03-09T01:00:00.000Z', id: 'a' },
      { at: '2026-03-09T02:00:00.000Z', id: 'b' },
    ]
    await spool(data, a)
    await land(data)
    await spool(data, a, b)
    await land(data)
    await spool(data, a, b)
    await land(data)
    expect(idsOf((await landed(data, 'hook_events', 'default'))['2026-03-09'])).toEqual(['a', 'b'])
  })

  it('law 3: are not added to a version that is damaged, which is moved to quarantine', async () => {
    const data = await temporaryFolder()
    await spool(data, { at: '2026-03-09T01:00:00.000Z', id: 'a' })
    await land(data)
    const day = rawFolder(data, 'default', 'hook_events', parseDay('2026-03-09', 'a day'))
    const [file = ''] = await readdir(day)
    await flip(join(day, file))
    await spool(data, { at: '2026-03-09T02:00:00.000Z', id: 'b' })
    expect(await land(data)).toEqual([
      expect.stringContaining(
        `hook_events 2026-03-09 of default: ${file}: its SHA-256 is not`,
      ) as string,
    ])
    expect(idsOf((await landed(data, 'hook_events', 'default'))['2026-03-09'])).toEqual(['b'])
  })

  it('laws 1 and 3: stay in the spool when a run is killed while it lands them', async () => {
    const data = await temporaryFolder()
    await spool(data, { at: '2026-03-09T01:00:00.000Z', id: 'a' })
    const killed = vi.spyOn(IntervalRecorder.prototype, 'landed').mockRejectedValueOnce('killed')
    await expect(land(data)).rejects.toBe('killed')
    killed.mockRestore()
    expect(await readdir(join(data, SPOOL))).toHaveLength(1)
    await land(data)
    expect(idsOf((await landed(data, 'hook_events', 'default'))['2026-03-09'])).toEqual(['a'])
    expect(await readdir(join(data, SPOOL))).toEqual([])
  })

  it('wait in the spool while their organisation is not known, and land once it is', async () => {
    const data = await temporaryFolder()
    const known = { servedAs: null, lastDay: dayOf(NIGHT), skewMs: 0 }
    for (const orgId of ['org_one', 'org_two'])
      await rememberOrganisation(data, orgId.slice(4), { ...known, orgId }, () => undefined)
    await spool(data, { at: '2026-03-09T01:00:00.000Z', id: 'a' })
    expect(await land(data, 'onee')).toEqual([
      "hook events wait: hooks.organisation must name an organisation that has been loaded (one, two), and is 'onee'",
    ])
    expect((await land(data, ''))[0]).toMatch(/and is not set$/)
    expect(await readdir(join(data, SPOOL))).toHaveLength(1)
    expect(await land(data, 'one')).toEqual([])
    expect(idsOf((await landed(data, 'hook_events', 'org_one'))['2026-03-09'])).toEqual(['a'])
    expect(await readdir(join(data, SPOOL))).toEqual([])
  })

  it('belong to the only configured organisation, although the data folder has another', async () => {
    const data = await temporaryFolder()
    const known = { servedAs: null, lastDay: dayOf(NIGHT), skewMs: 0 }
    for (const name of ['kept', 'removed'])
      await rememberOrganisation(data, name, { ...known, orgId: `org_${name}` }, () => undefined)
    await spool(data, { at: '2026-03-09T01:00:00.000Z', id: 'a' })
    expect(await land(data, null, 'new'), 'before that is loaded').toEqual([
      'hook events wait: hooks.organisation must name an organisation that has been loaded (kept, removed), and is not set',
    ])
    expect(await readdir(join(data, SPOOL))).toHaveLength(1)
    expect(await land(data, null, 'kept')).toEqual([])
    expect(idsOf((await landed(data, 'hook_events', 'org_kept'))['2026-03-09'])).toEqual(['a'])
    expect(await readdir(join(data, SPOOL))).toEqual([])
  })

  it('belong to an organisation once it is loaded, although earlier ones landed before', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    await spool(data, { at: '2026-03-09T01:00:00.000Z', id: 'a' })
    await land(data)
    await spool(data, { at: '2026-03-09T02:00:00.000Z', id: 'b' })
    await night(emulator, data, {
      only: ['hook_events'],
      entities: { onlyOrganisation: 'default' },
    })
    expect(idsOf((await landed(data, 'hook_events'))['2026-03-09'])).toEqual(['b'])
  })

  it('land with their secrets redacted and nothing else changed', async () => {
    const data = await temporaryFolder()
    await spool(data, {
      at: '2026-03-09T01:00:00.000Z',
      id: 'a',
      input: {
        session_id: 's',
        big: 1,
        tool_input: { command: 'curl -u me:hunter2 h', env: { API_KEY: 'x y' } },
      },
    })
    await land(data)
    const [item = ''] = (await landed(data, 'hook_events', 'default'))['2026-03-09'] ?? []
    expect(item).not.toMatch(/hunter2|x y/)
    expect(JSON.parse(item)).toMatchObject({
      input: {
        session_id: 's',
        tool_input: { command: expect.stringMatching(/^curl -u me:\[redacted:\w+\] h$/) as string },
      },
    })
  })

  it('that cannot be read land as text, once', async () => {
    const data = await temporaryFolder()
    await writeAtomic(join(data, SPOOL, 'x.json'), '{"event_id":')
    await writeAtomic(join(data, SPOOL, '.aside.json'), 'not yet')
    await land(data)
    const items = Object.values(await landed(data, 'hook_events', 'default')).flat()
    expect(items.map((item) => (JSON.parse(item) as { input: unknown }).input)).toEqual([
      { unreadable: '{"event_id":' },
    ])
    expect(await readdir(join(data, SPOOL))).toEqual(['.aside.json'])
  })

  it('belong to the configured organisation, else to the only one, else to "default"', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    const at = '2026-03-09T01:00:00.000Z'
    await spool(data, { at, id: 'a' })
    await land(data)
    expect(idsOf((await landed(data, 'hook_events', 'default'))['2026-03-09'])).toEqual(['a'])

    const other = await temporaryFolder()
    await spool(other, { at, id: 'b' })
    await night(emulator, other, { only: ['hook_events'] })
    expect(idsOf((await landed(other, 'hook_events'))['2026-03-09'])).toEqual(['b'])
    await spool(other, { at, id: 'c' })
    await land(other)
    expect(idsOf((await landed(other, 'hook_events'))['2026-03-09'])).toEqual(['b', 'c'])
    await spool(other, { at, id: 'd' }, { at, id: 'e' })
    await night(emulator, other, {
      only: ['hook_events'],
      entities: { organisationOfHookEvents: 'elsewhere' },
    })
    expect(await readdir(join(other, SPOOL))).toHaveLength(2)
  })

  it.each([
    ['is one of two', 'one', ['one']],
    ['is neither of two', 'three', []],
    ['is not set', null, []],
  ])('are in the plan of the organisation that owns them, if it %s', async (_, owner, owners) => {
    const data = await temporaryFolder()
    await spool(data, { at: '2026-03-09T01:00:00.000Z', id: 'a' })
    const organisations = ['one', 'two'].map((name) => {
      return { name, base_url: 'http://127.0.0.1:1', key_env: 'KEY' }
    })
    const hooks = owner === null ? {} : { hooks: { organisation: owner } }
    const file = join(data, 'agent-warehouse.yaml')
    await writeFile(file, JSON.stringify({ data, organisations, ...hooks }))
    const planned = async (): Promise<unknown> => {
      const { out, err } = await command(['plan', '--json', '--config', file])
      expect(err).toBe('')
      const plans = JSON.parse(out) as { entities: { resource: string }[] }[]
      return organisations.flatMap(({ name }, at) => {
        const has = plans[at]?.entities.some(({ resource }) => resource === 'hook_events')
        return has === true ? [name] : []
      })
    }
    expect(await planned(), 'before they are loaded').toEqual(owners)
    const known = { servedAs: null, lastDay: dayOf(NIGHT), skewMs: 0 }
    for (const { name } of organisations)
      await rememberOrganisation(data, name, { ...known, orgId: `org_${name}` }, () => undefined)
    expect(await planned(), 'afterwards').toEqual(owners)
  })

  it('name sessions, which the same night fetches', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    const [sessionId = ''] = emulator.sessionIds()
    await spool(data, { at: '2026-03-09T01:00:00.000Z', id: 'a', input: { session_id: sessionId } })
    const { requests } = await night(emulator, data, { only: ['hook_events', 'sessions'] })
    expect(requests).toEqual([`/api/v0/sessions/${sessionId}`])
  })
})
