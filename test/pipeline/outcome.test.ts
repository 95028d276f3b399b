import { expect, it } from 'vitest'
import { CredentialError, DeferredError, UsageError } from '../../src/lib/errors.ts'
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
    [{ ...COMPLETE, crashedBy: new Error('broken') }],
  ],
]

it.each(results)('a build %s a run that %s', (verb, _, of) => {
  expect(outcomeOf(of).hasNews).toBe(verb === 'follows')
})
