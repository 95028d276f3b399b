import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KnownSecrets } from '../../src/lib/secrets/known-secrets.ts'
import { growthOf, LINEAR, repeated } from '../support/growth.ts'

const KEY = 'fk-Zq3/9+vX"2\\mLp7=TtR5'
const secrets = new KnownSecrets([KEY])

function unicode(text: string): string {
  return text.replaceAll(/[^]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function percent(text: string, hex = (byte: number) => byte.toString(16).padStart(2, '0')): string {
  return [...Buffer.from(text)].map((byte) => `%${hex(byte)}`).join('')
}

function inUrl(text: string): string {
  return encodeURIComponent(text)
}

function entities(text: string, numbered: (code: number) => string): string {
  return text.replaceAll(/[^]/g, (char) => `&${numbered(char.charCodeAt(0))};`)
}

const SPELLINGS: readonly [string, string][] = [
  ['as it is', KEY],
  ['in JSON', JSON.stringify(KEY).slice(1, -1)],
  ['in JSON within JSON', JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
  ['in JSON with escaped slashes', JSON.stringify(KEY).slice(1, -1).replaceAll('/', '\\/')],
  ['in JSON, each character escaped', unicode(KEY)],
  ['in JSON within JSON, each character escaped', unicode(KEY).replaceAll('\\', '\\\\')],
  [
    'in JSON, one character escaped',
    KEY.replace('f', '\\u0066').replace('"', '\\"').replace('\\m', '\\\\m'),
  ],
  ['in a URL', encodeURIComponent(KEY)],
  ['in a URL in small letters', percent(KEY)],
  ['in a URL in capitals', percent(KEY, (byte) => byte.toString(16).toUpperCase())],
  ['in a URL within a URL', encodeURIComponent(encodeURIComponent(KEY))],
  ['in hexadecimal', Buffer.from(KEY).toString('hex')],
  ['in HEXADECIMAL', Buffer.from(KEY).toString('hex').toUpperCase()],
  ['in capitals', KEY.toUpperCase()],
  ['in small letters', KEY.toLowerCase()],
  ['in a URL, escaped three times', [1, 2, 3].reduce(inUrl, KEY)],
  [
    'in a URL, escaped five times, in small letters',
    [1, 2, 3, 4, 5].reduce(inUrl, KEY).toLowerCase(),
  ],
  ['in HTML, each character by its number', entities(KEY, (code) => `#${code}`)],
  ['in HTML, each by seven digits', entities(KEY, (code) => `#${String(code).padStart(7, '0')}`)],
  ['in HTML, each by its hexadecimal number', entities(KEY, (code) => `#x${code.toString(16)}`)],
  [
    'in HTML, slashes and signs by their number',
    KEY.replaceAll(/[/+="]/g, (char) => `&#${char.charCodeAt(0)};`),
  ],
  [
    'in HTML, slashes and signs by their name',
    KEY.replaceAll('/', '&sol;')
      .replaceAll('+', '&plus;')
      .replaceAll('=', '&equals;')
      .replaceAll('"', '&quot;'),
  ],
  ['in HTML within HTML', entities(KEY, (code) => `amp;#${code}`)],
]

/** What of the Base64 of a text around the key tells the key. */
const AROUND = ['', 'a', 'ab', 'user:', 'Bearer ']

describe('a known secret', () => {
  test.each(SPELLINGS)('is redacted %s', (_, spelling) => {
    expect(secrets.text(`a ${spelling}, b`)).toBe('a [redacted], b')
    expect(text(bytesWithout(secrets, Buffer.from(`{"a":"${spelling}é"}`)))).toBe(
      '{"a":"[redacted]é"}',
    )
  })

  test.each(SPELLINGS)('is redacted %s, as one of very many', (_, spelling) => {
    const others = Array.from({ length: 300 }, (_, at) => `fk-another-key-${at}`)
    const many = new KnownSecrets([...others.slice(100), KEY, ...others.slice(0, 100)])
    expect(many.text(`a ${spelling}, b fk-another-key-7`)).toBe('a [redacted], b [redacted]')
  })

  test.each(AROUND)('is redacted in Base64 that begins with %j', (before) => {
    for (const encoding of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(`${before}${KEY}`).toString(encoding)
      expect(secrets.text(`<${encoded}>`)).toMatch(/^<[\w+/-]{0,12}\[redacted\].{0,2}=?=?>$/)
    }
  })

  test.each(['fk-%41%62c-%2Fdef-0123', 'fk-&#65;&amp;-\\u0041-0123'])(
    'that contains an escape sequence, %s, is redacted in every spelling',
    (key) => {
      const known = new KnownSecrets([key])
      const once = encodeURIComponent(key)
      for (const spelling of [
        key,
        once,
        encodeURIComponent(once),
        JSON.stringify(key).slice(1, -1),
      ])
        expect(known.text(`a ${spelling}, b`)).toBe('a [redacted], b')
    },
  )

  test('is redacted where an error cuts it off, also in upper case', () => {
    expect(secrets.message(`the token ${KEY.slice(0, 14).toUpperCase()}…`)).toBe(
      'the token [redacted]…',
    )
  })

  test('leaves text unchanged whose upper case is longer', () => {
    expect(secrets.text(`İİ ${KEY} İ`)).toBe('İİ [redacted] İ')
  })

  test('is redacted in a body, wherever the body is split', () => {
    const parts = fc.array(
      fc.oneof(
        fc.constantFrom(...SPELLINGS.map(([, spelling]) => spelling)),
        fc.string({ maxLength: 9 }),
      ),
    )
    fc.assert(
      fc.property(
        parts,
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
        (said, sizes) => {
          const body = Buffer.from(said.join(' '))
          const filter = secrets.stream()
          const out: Uint8Array[] = []
          for (let at = 0, index = 0; at < body.byteLength; index += 1) {
            const size = sizes[index % sizes.length] ?? 1
            out.push(filter.write(body.subarray(at, at + size)))
            at += size
          }
          out.push(filter.end())
          const clean = Buffer.concat(out).toString()
          for (const [, spelling] of SPELLINGS) expect(clean).not.toContain(spelling)
        },
      ),
    )
  })

  test('leaves every other byte unchanged', () => {
    const bytes = fc.uint8Array({ maxLength: 300 })
    fc.assert(
      fc.property(bytes, fc.string(), (first, second) => {
        const body = Buffer.concat([first, Buffer.from(`%41 \\u0041 ${second}`)])
        const filter = new KnownSecrets([KEY]).stream()
        const clean = Buffer.concat([filter.write(body), filter.end()])
        expect(clean.equals(body)).toBe(true)
      }),
    )
  })

  test.each([
    [`the token ${KEY.slice(0, 14)}… is unknown`, 'the token [redacted]… is unknown'],
    [`the token …${KEY.slice(-12)} is unknown`, 'the token …[redacted] is unknown'],
    [`part ${KEY.slice(4, 16)}`, 'part [redacted]'],
    [`hint fk-Z…`, 'hint fk-Z…'],
  ])('is redacted where an error cuts it off: %s', (said, clean) => {
    expect(secrets.message(said)).toBe(clean)
  })

  test('is redacted in an error, its stack and its causes', () => {
    const innermost = new Error(`inner ${KEY}`)
    const inner = new AggregateError([innermost], `all ${KEY}`)
    const error = new Error(`outer ${KEY}`, { cause: inner })
    secrets.error(error)
    const all = [error, inner, innermost].map((each) => `${each.message} ${each.stack ?? ''}`)
    expect(all.join(' ')).not.toContain(KEY)
    expect(error.message).toBe('outer [redacted]')
  })

  test('is kept in data if it is short, because it would match by chance', () => {
    const short = new KnownSecrets(['test'])
    expect(text(bytesWithout(short, Buffer.from('{"name":"test"}')))).toBe('{"name":"test"}')
    expect(short.text('the key test')).toBe('the key [redacted]')
  })

  test.each([
    KEY,
    unicode(KEY),
    percent(KEY),
    entities(KEY, (code) => `#${code}`),
    '%25',
    '&amp;',
    '&#0',
    '%41',
    '\\u0041',
    KEY.slice(0, -1),
    '\\\\\\',
  ])('is looked for in linear time: %j over and over', (unit) => {
    expect(growthOf((text) => bytesWithout(secrets, Buffer.from(text)), unit)).toBeLessThan(LINEAR)
    expect(growthOf((text) => secrets.message(text), unit)).toBeLessThan(LINEAR)
    const body = repeated(unit, 1_000_000)
    expect(text(bytesWithout(secrets, Buffer.from(body)))).not.toContain(KEY)
    expect(secrets.message(body)).not.toContain(KEY)
  })
})

/** A body that comes whole. */
function bytesWithout(known: KnownSecrets, body: Uint8Array): Uint8Array {
  const filter = known.stream()
  return Buffer.concat([filter.write(body), filter.end()])
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}
