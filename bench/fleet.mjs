// A fleet of small organisations on one stand-in platform: a first night, a night on which nothing
// has changed, the next morning, and a night on which one organisation is refused. The platform's own
// time is the processors' time of its process: it runs on the same machine.
// BENCH_ORGANISATIONS=50: a smaller fleet, for which the targets are as much smaller.
import { join } from 'node:path'
import {
  addDays,
  agentWarehouse,
  configureOrganisations,
  HISTORY_BEGINS,
  report,
  tell,
  withFolder,
  withPlatform,
} from './lib.mjs'

const ORGANISATIONS = Number(process.env.BENCH_ORGANISATIONS ?? 1000)
const PEOPLE = 20
const DAYS = 30

/** The targets are those of a thousand organisations. */
const SHARE = ORGANISATIONS / 1000

await withFolder(async (folder) => {
  const data = join(folder, 'data')
  const first = await onMorning(DAYS, async (platform) => {
    await configureOrganisations(folder, platform)
    return {
      whole: await night('the first night', platform),
      idle: await night('an idle night', platform),
    }
  })
  const next = await onMorning(DAYS + 1, async (platform) => {
    await configureOrganisations(folder, platform)
    return night('the next morning', platform)
  })
  report([
    { name: 'organisations', value: ORGANISATIONS, unit: '' },
    {
      name: 'first night, beyond the platform',
      value: first.whole.beyond,
      unit: 's',
      most: 900 * SHARE,
    },
    {
      name: 'for each organisation',
      value: (first.whole.beyond / ORGANISATIONS) * 1000,
      unit: 'ms',
    },
    {
      name: 'processor time, for each organisation',
      value: (first.whole.cpu / ORGANISATIONS) * 1000,
      unit: 'ms',
    },
    {
      name: 'idle processor time, for each organisation',
      value: (first.idle.cpu / ORGANISATIONS) * 1000,
      unit: 'ms',
    },
    { name: 'the platform alone', value: first.whole.platform, unit: 's' },
    { name: 'peak memory, first night', value: first.whole.megabytes, unit: 'MB', most: 1000 },
    {
      name: 'idle night, beyond the platform',
      value: first.idle.beyond,
      unit: 's',
      most: 120 * SHARE,
    },
    {
      name: 'idle, for each organisation',
      value: (first.idle.beyond / ORGANISATIONS) * 1000,
      unit: 'ms',
    },
    { name: 'peak memory, idle night', value: first.idle.megabytes, unit: 'MB', most: 1000 },
    { name: 'next morning, beyond the platform', value: next.beyond, unit: 's' },
    {
      name: 'morning, for each organisation',
      value: (next.beyond / ORGANISATIONS) * 1000,
      unit: 'ms',
    },
    { name: 'peak memory, next morning', value: next.megabytes, unit: 'MB', most: 1000 },
  ])

  async function night(name, platform) {
    const before = await platform.ask('seconds')
    const config = join(folder, 'agent-warehouse.yaml')
    const run = await agentWarehouse(['run', '--config', config, '--log', 'none'], data, {
      AGENT_WAREHOUSE_RATE: '100000',
    })
    const platformSeconds = (await platform.ask('seconds')) - before
    const beyond = run.seconds - platformSeconds
    const megabytes = run.peakBytes / 1024 ** 2
    tell(
      `  ${name}: ${run.seconds.toFixed(1)} s, of the platform ${platformSeconds.toFixed(1)} s, ${run.cpuSeconds.toFixed(1)} s of the processors, ${Math.round(megabytes)} MB`,
    )
    return { beyond, platform: platformSeconds, megabytes, cpu: run.cpuSeconds }
  }
})

/** A stand-in on the morning after that many days of history. */
function onMorning(days, work) {
  const now = Date.parse(`${addDays(HISTORY_BEGINS, days)}T06:00:00Z`)
  tell(`${ORGANISATIONS} organisations on the morning after ${days} days`)
  return withPlatform(PEOPLE, work, { now, areSteady: true, organisations: ORGANISATIONS })
}
