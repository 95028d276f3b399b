import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedact } from '../../src/observe/log.ts'

const SECRET = 'key/with+signs="quoted"'

test.each([
  ['sent key/with+signs="quoted" in vain', 'sent [redacted] in vain'],
  [`GET /x?key=${encodeURIComponent(SECRET)}&a=1`, 'GET /x?key=[redacted]&a=1'],
  ['Authorization: Bearer abc123def456', 'Authorization: Bearer [redacted]'],
  ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl expired', 'token [redacted] expired'],
  ['the bearer credential is missing', 'the bearer credential is missing'],
])('text is redacted: %s', (text, safe) => {
  expect(createRedact([SECRET])(text)).toBe(safe)
})

test('an empty credential redacts nothing', () => {
  expect(createRedact(['', '  ', 'abc'])('abc is a word')).toBe('abc is a word')
})

test('law 11: a credential is redacted whatever text surrounds it', () => {
  const secrets = fc.string({ minLength: 4, maxLength: 40, unit: 'grapheme-ascii' })
  fc.assert(
    fc.property(secrets, fc.string(), fc.string(), (secret, before, after) => {
      fc.pre(secret.trim().length >= 4 && !'[redacted]'.includes(secret.trim()))
      expect(createRedact([secret])(before + secret + after)).not.toContain(secret.trim())
    }),
  )
})
