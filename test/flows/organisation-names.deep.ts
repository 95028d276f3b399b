import { expect, it } from 'vitest'
import { knownOrganisations } from '../../src/lake/ledger.ts'
import { rememberOrganisation } from '../../src/lake/organisations.ts'
import { dayOf } from '../../src/lib/days.ts'
import { ExitCode } from '../../src/lib/errors.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { DAYS, daysOf, landed, listed, NOW, platform } from './fleet-night.ts'

it('a second name of one organisation is refused, and its ledger is written once', async () => {
  const emulator = await platform()
  const [one, two] = [listed(emulator, 1), listed(emulator, 2)]
  const { data } = await landed([one])
  const twice = [{ ...one, name: 'again' }, one, two]
  for (const atOnce of [1, 3]) {
    const { outcome } = await landed(twice, { data, atOnce })
    expect(outcome.exitCode).toBe(ExitCode.usage)
    expect(outcome.problems.map(({ message }) => message)).toEqual([
      "'again': the credential of 'again' belongs to the organisation 'org_demo', which is already configured as 'number 1'",
    ])
    expect(outcome.results[1]).toMatchObject({ orgId: 'org_demo', stoppedBy: null })
  }
  expect(await daysOf(data, 'org_demo_2')).toBe(2 * DAYS)
})

it('one of two names of a new organisation lands, and the other is refused', async () => {
  const emulator = await platform()
  const one = listed(emulator, 1)
  const { outcome, data } = await landed([one, { ...one, name: 'again' }])
  expect(outcome.exitCode).toBe(ExitCode.usage)
  expect(outcome.results.map(({ landed: days }) => days).toSorted()).toEqual([0, 2 * DAYS])
  expect(await daysOf(data, 'org_demo')).toBe(2 * DAYS)
})

it('a key of another configured organisation is refused by the name of that organisation', async () => {
  const emulator = await platform()
  const [one, two] = [listed(emulator, 1), listed(emulator, 2)]
  const { data } = await landed([one, two])
  const refused = (name: string, orgId: string, owner: string): string =>
    `'${name}': the credential of '${name}' belongs to the organisation '${orgId}', which is already configured as '${owner}'`
  const { outcome } = await landed([one, { ...two, key: one.key }], { data })
  expect(outcome.exitCode).toBe(ExitCode.usage)
  expect(outcome.problems.map(({ message }) => message)).toEqual([
    refused('number 2', 'org_demo', 'number 1'),
  ])
  const swapped = [
    { ...one, key: two.key },
    { ...two, key: one.key },
  ]
  const { outcome: both } = await landed(swapped, { data })
  expect(both.problems.map(({ message }) => message)).toEqual([
    refused('number 1', 'org_demo_2', 'number 2'),
    refused('number 2', 'org_demo', 'number 1'),
  ])
})

it.each(['another key', 'no key'])(
  'an organisation that the data folder does not have is not made by the record of its name: %s',
  async (problem) => {
    const emulator = await platform()
    const [one, two] = [listed(emulator, 1), listed(emulator, 2)]
    const data = await temporaryFolder()
    const known = { orgId: 'org_other', servedAs: 'org_other', lastDay: dayOf(NOW), skewMs: 0 }
    await rememberOrganisation(data, two.name, known, () => undefined)
    const key = problem === 'no key' ? '' : two.key
    const { outcome } = await landed([one, { ...two, key }], { data, now: NOW + 86_400_000 })
    expect(outcome.exitCode).toBe(ExitCode.usage)
    expect(await knownOrganisations(data)).toEqual(['org_demo'])
  },
)

it.each([1, 3])(
  'one of two names of an organisation is given to another, and the other name loads it: %i at once',
  async (atOnce) => {
    const emulator = await platform()
    const [one, two] = [listed(emulator, 1), listed(emulator, 2)]
    const names = ['old', 'renamed']
    for (const [other = '', own = ''] of [names, names.toReversed()]) {
      const { data } = await landed([{ ...one, name: 'old' }])
      await landed([{ ...one, name: 'renamed' }], { data })
      const fleet = [
        { ...two, name: other },
        { ...one, name: own },
      ]
      const { outcome: without } = await landed(
        [{ ...two, name: other, key: '' }, fleet[1] ?? one],
        {
          data,
          atOnce,
        },
      )
      expect(without.results.map(({ orgId }) => orgId)).toEqual([null, 'org_demo'])
      const { outcome } = await landed(fleet, { data, atOnce })
      expect(outcome.problems, own).toEqual([])
      expect(outcome.results.map(({ orgId }) => orgId)).toEqual(['org_demo_2', 'org_demo'])
    }
  },
)

it('a name that was given to another organisation is refused for its own earlier one', async () => {
  const emulator = await platform()
  const [one, two] = [listed(emulator, 1), listed(emulator, 2)]
  const { data } = await landed([{ ...one, name: 'old' }])
  await landed([{ ...one, name: 'renamed' }], { data })
  const fleet = [
    { ...two, name: 'old' },
    { ...one, name: 'renamed' },
  ]
  for (const atOnce of [1, 2]) {
    const { outcome } = await landed(fleet, { data, atOnce })
    expect(outcome.problems).toEqual([])
    expect(outcome.results.map(({ orgId }) => orgId)).toEqual(['org_demo_2', 'org_demo'])
  }
  expect(await daysOf(data, 'org_demo')).toBe(2 * DAYS)
  expect(await daysOf(data, 'org_demo_2')).toBe(2 * DAYS)
  const { outcome } = await landed([{ ...one, name: 'old' }, fleet[1] ?? one], { data })
  expect(outcome.problems.map(({ message }) => message)).toEqual([
    "'old': the credential of 'old' belongs to the organisation 'org_demo', which is already configured as 'renamed'",
  ])
})
