import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSecretNumberName } from '../../src/lib/secrets/secret-names.ts'
import { Redaction } from '../../src/lib/secrets/redaction.ts'

const redaction = new Redaction('0'.repeat(64))

/** The value with every string, and every number that may be a secret, as an empty string. */
function shapeOf(value: unknown, isSecret = false): unknown {
  if (typeof value === 'string' || (typeof value === 'number' && isSecret)) return ''
  if (Array.isArray(value)) return value.map((element) => shapeOf(element, isSecret))
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value).map(([name, below]) =>
    shapeOf(below, isSecret || isSecretNumberName(name)),
  )
}

const control = (settings: unknown): string => JSON.stringify({ revision: 1, settings })

describe('law 11: redaction', () => {
  const name = fc.oneof(
    fc.constantFrom(
      'apiKey',
      'customModels',
      'extraArgs',
      'settings',
      'model',
      'a',
      '__proto__',
      'newPolicy',
      'sandbox',
      'network',
      'source',
    ),
    fc.string({ maxLength: 6 }),
  )
  const scalar = fc.oneof(
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  /** A value with the secret at some depth, among harmless values. */
  const holding = (leaf: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.tuple(name, tie('value'), name, scalar).map(([a, value, b, other]) =>
          Object.fromEntries([
            [`${b}_`, other],
            [a, value],
          ]),
        ),
        fc.tuple(scalar, tie('value')).map(([other, value]) => [other, value]),
      ),
    })).value
  /** Letters that no name, number or mark contains. */
  const anySecret = fc.string({
    unit: fc.constantFrom('Q', 'X', 'Z', 'é', '"', '\\', '\u2028'),
    minLength: 6,
    maxLength: 30,
  })
  const spelled = (text: string): string => JSON.stringify(text).slice(1, -1)

  it('never writes a secret of any form in a field that is not documented', () => {
    fc.assert(
      fc.property(anySecret, fc.nat(1_000), (secret, seed) => {
        for (const later of fc.sample(holding(fc.constant(secret)), { numRuns: 5, seed })) {
          const text = redaction.item('enterprise_controls', control({ later }))
          expect(text).not.toContain(spelled(secret))
        }
      }),
      { numRuns: 100 },
    )
  })

  it('never writes a text in the form of a key, at any place, depth or name', () => {
    const places = [
      'commandAllowlist',
      'mcpPolicy',
      'customModels',
      'sandbox',
      'user',
      'updatedAt',
      'x',
    ]
    const key = fc
      .string({ unit: fc.constantFrom('Q', 'X', 'Z', '0', '7', '9'), minLength: 20, maxLength: 40 })
      .map((rest) => `sk-${rest}1`)
    fc.assert(
      fc.property(key, fc.constantFrom(...places), fc.nat(1_000), (secret, place, seed) => {
        const leaf = fc.constantFrom<unknown>(
          secret,
          [secret],
          { [secret]: 1 },
          `run --with ${secret} now`,
          { apiKey: secret, baseUrl: `https://${secret}@h` },
        )
        for (const value of fc.sample(holding(leaf), { numRuns: 3, seed })) {
          for (const resource of [
            'enterprise_controls',
            'sessions',
            'messages',
            'hook_events',
            'readiness_reports',
          ]) {
            const text = redaction.item(
              resource,
              JSON.stringify({ settings: { [place]: value }, [place]: value }),
            )
            expect(text).not.toContain(secret)
          }
        }
      }),
      { numRuns: 100 },
    )
  })

  it('keeps the shape of the JSON: only strings, names, and numbers that may be secrets are marked', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (json) => {
        for (const resource of ['enterprise_controls', 'messages']) {
          const out = redaction.item(resource, json)
          const isClosed = resource === 'enterprise_controls'
          expect(shapeOf(JSON.parse(out), isClosed)).toEqual(shapeOf(JSON.parse(json), isClosed))
          expect(redaction.item(resource, out)).toBe(out)
        }
      }),
      { numRuns: 200 },
    )
  })
})
