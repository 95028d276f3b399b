import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { withoutKnownForms, withoutSecrets } from '../../src/lib/secrets/secret-forms.ts'
import { Redaction } from '../../src/lib/secrets/redaction.ts'
import { growthOf, LINEAR, repeated } from '../support/growth.ts'

const mark = (): string => '[redacted]'

/** Texts as they come in settings, commands and messages; without secrets: the text stays as it is. */
const corpus = z
  .array(z.object({ kind: z.string(), text: z.string(), secrets: z.array(z.string()) }))
  .parse(JSON.parse(readFileSync(new URL('secret-corpus.json', import.meta.url), 'utf8')))

describe('a text of the corpus is redacted', () => {
  test.each(corpus)('$kind: $text', ({ text, secrets }) => {
    const left = withoutSecrets(text, mark)
    if (secrets.length === 0) expect(left).toBe(text)
    for (const secret of secrets) expect(left).not.toContain(secret)
    expect(withoutSecrets(left, mark)).toBe(left)
  })
})

/** What patterns begin with or repeat: each over and over, alone and before a letter. */
const UNITS = [
  'eyJaaaa-',
  'eyJ',
  'eyJa.',
  'a',
  'A',
  '1',
  'a1',
  'aB',
  '=',
  '&',
  '?a=',
  ';a=',
  '#',
  '-',
  '$',
  '.',
  '@',
  '/',
  '+',
  ' ',
  '\n',
  '"',
  "'",
  '\\',
  '%',
  ':',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN ',
  '-----END ',
  'Private-Lines: 2 ',
  'AGE-SECRET-KEY-1',
  'API_KEY=',
  'password: ',
  '--token ',
  '--a-',
  '--pass',
  'a.b-',
  'pass=pass=',
  '://',
  'a://',
  'a://b@',
  'a://b:c@',
  'a://b:c/',
  'https://hooks.',
  '/hook/',
  'https://h/hook/',
  'x@',
  '@a',
  'bearer ',
  'basic ',
  'authorization:',
  'cookie',
  'set-cookie=',
  'sk-',
  'sk-a',
  'SG.',
  'AKIA',
  'ya29.',
  'AIza',
  'xoxb-',
  '1:AA',
  'x.atlasv1',
  'dapi',
  'hvs.',
  'github_pat_',
  'zip ',
  'mysql ',
  'mysql -p',
  'docker login ',
  'redis-cli -a',
  'curl -u ',
  '-u a',
  '-u a:',
  '-pass pass:',
  'echo ',
  'echo a|',
  'echo a | ',
  'curl -su a',
  'curl -b a=',
  'htpasswd -b ',
  'machine a login a ',
  'set a ',
  'set --a ',
  'name=a,value=',
  '<a>',
  '<a ',
  'ssh-rsa AAAAB3NzaC1',
  '[redacted',
]

describe('law 13: redaction is linear and bounded', () => {
  test.each(UNITS)('the work for repeated %j grows linearly', (unit) => {
    const redaction = new Redaction('0'.repeat(64))
    for (const work of [
      (text: string) => withoutSecrets(text, mark),
      (text: string) => withoutKnownForms(`${text}!`, mark),
      (text: string) => redaction.item('messages', JSON.stringify({ [text]: 1 })),
      (text: string) => redaction.item('enterprise_controls', JSON.stringify({ [`${text}a`]: 1 })),
    ])
      expect(growthOf(work, unit)).toBeLessThan(LINEAR)
    // deep recursion of a pattern would overflow the stack
    expect(typeof withoutSecrets(repeated(unit, 1_000_000), mark)).toBe('string')
  })

  test('6 MB of Base64 in an item is redacted in bounded time', () => {
    const redaction = new Redaction('0'.repeat(64))
    const base64 = Buffer.alloc(4_500_000, 'x7Gh2kLm9Qw4Zt1P/+?~').toString('base64')
    for (const resource of ['messages', 'hook_events', 'enterprise_controls']) {
      const item = redaction.item(
        resource,
        JSON.stringify({ text: base64, settings: { a: base64 } }),
      )
      expect(item).toContain('[redacted:')
    }
  })
})
