import { expect, it } from 'vitest'
import {
  CredentialError,
  DeferredError,
  ExitCode,
  PartialError,
  UsageError,
} from '../../src/lib/errors.ts'
import { outcomeOf, type OrganisationResult } from '../../src/pipeline/outcome.ts'

const COMPLETE: OrganisationResult = {
  name: 'default',
  orgId: 'o',
  landed: 0,
  failed: 0,
  missing: 0,
  stoppedBy: null,
  unreachable: null,
}
const FAILED = { ...COMPLETE, failed: 3 }

const results: ['follows' | 'does not follow', string, OrganisationResult[]][] = [
  ['follows', 'landed days, although others failed', [{ ...FAILED, landed: 1 }]],
  ['follows', 'asked for all days that were due, of which there were none', [COMPLETE]],
  [
    'follows',
    'landed days of one organisation, and none of another',
    [FAILED, { ...FAILED, landed: 1 }],
  ],
  ['follows', 'got none of the days that it asked for', [FAILED]],
  ['follows', 'was refused', [{ ...COMPLETE, stoppedBy: new CredentialError('') }]],
  ['does not follow', 'had no key', [{ ...FAILED, stoppedBy: new UsageError('') }]],
  [
    'does not follow',
    'was stopped before a day landed',
    [{ ...COMPLETE, stoppedBy: new DeferredError('') }],
  ],
  [
    'does not follow',
    'never reached the platform',
    [{ ...FAILED, unreachable: new Error('down') }],
  ],
  [
    'does not follow',
    'crashed before a day landed',
    [{ ...COMPLETE, stoppedBy: new PartialError('broken') }],
  ],
]

it.each(results)('a build %s a run that %s', (verb, _, of) => {
  expect(outcomeOf(of).hasNews).toBe(verb === 'follows')
})

it('organisations that were stopped by the same error are one problem, and the most severe come first', () => {
  const stopped = new DeferredError('stopped by SIGTERM')
  const fleet = Array.from({ length: 30 }, (_, at) => ({
    ...COMPLETE,
    name: `number ${at}`,
    stoppedBy: at === 20 ? new CredentialError('401 (request r-20)') : stopped,
  }))
  const { exitCode, problems, failures } = outcomeOf([{ ...FAILED, name: 'faulty' }, ...fleet])
  expect(exitCode).toBe(ExitCode.credential)
  expect(problems.map(({ message }) => message)).toEqual([
    "'number 20': 401 (request r-20)",
    "'number 0', 'number 1', 'number 2', 'number 3', 'number 4' and 24 more: stopped by SIGTERM",
  ])
  expect(failures.map(({ name }) => name).slice(0, 2)).toEqual(['number 20', 'number 0'])
  expect(failures.at(-1)).toMatchObject({ name: 'faulty', exitCode: ExitCode.partial })
})

it('lists ten problems and counts the others', () => {
  const fleet = Array.from({ length: 12 }, (_, at) => ({
    ...COMPLETE,
    name: `number ${at}`,
    unreachable: new Error(`reason ${'x'.repeat(at)}`),
  }))
  const { problems } = outcomeOf(fleet)
  expect(problems).toHaveLength(11)
  expect(problems.at(-1)?.message).toBe('and 2 more problems of other organisations')
})
