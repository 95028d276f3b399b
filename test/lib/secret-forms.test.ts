import { describe, expect, it } from 'vitest'
import { withoutKnownForms, withoutSecrets } from '../../src/lib/secrets/secret-forms.ts'
import { isIdName, isSecretName, isSecretNumberName } from '../../src/lib/secrets/secret-names.ts'
import { growthOf, LINEAR } from '../support/growth.ts'

const mark = (): string => '[redacted]'

describe('text in the form of a secret is redacted', () => {
  it.each([
    ['curl -H "Authorization: Bearer swordfish" h', 'curl -H "Authorization: [redacted]" h'],
    ["curl -H 'cookie: sid=a; other=b' h", "curl -H 'cookie: [redacted]' h"],
    ['curl -u bob:hunter2 h', 'curl -u bob:[redacted] h'],
    ['https://u:pw@h.example/p', 'https://[redacted]@h.example/p'],
    ['https://u:p@ss/w@rd@h.example/p', 'https://[redacted]@h.example/p'],
    ['postgres://u:p@ss@h.example/db', 'postgres://[redacted]@h.example/db'],
    [
      'https://h.example/p?a=x&b=2#access_token=3',
      'https://h.example/p?a=x&b=2#access_token=[redacted]',
    ],
    ['wss://r.example/agent/7?sig=9f8e', 'wss://r.example/agent/7?sig=[redacted]'],
    ['npm publish --token abcdef', 'npm publish --token [redacted]'],
    ['--header=X-Api-Key:q1w2e3', '--header=X-Api-Key:[redacted]'],
    [
      'A=1,API_KEY=abc,B=2 GITHUB_TOKEN="a b c" node x',
      'A=1,API_KEY=[redacted],B=2 GITHUB_TOKEN="[redacted]" node x',
    ],
    ['{"apiKey": "abc","name":"n"}', '{"apiKey": "[redacted]","name":"n"}'],
    [String.raw`{\"apiKey\":\"abc\"}`, String.raw`{\"apiKey\":\"[redacted]\"}`],
    ["password: 'a b'", "password: '[redacted]'"],
    ['ghp_abcdefghij1234567890ABCDEFGHIJ123456 is', '[redacted] is'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', '[redacted]'],
    ['https://h.example/hook/T0/B0/x7Gh2kLm9Qw4Zt1P', 'https://h.example/hook/T0/B0/[redacted]'],
    ['eyJhbGciOi.eyJzdWIiOi.c2ln', '[redacted]'],
    ['Bearer tok-4711-abc', 'Bearer [redacted]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----', '[redacted]'],
    ['-----BEGIN PRIVATE KEY-----\ncut off', '[redacted]'],
  ])('%s', (text, left) => {
    expect(withoutSecrets(text, mark)).toBe(left)
  })

  it.each([
    'git push origin main && npm run integrationtests2',
    '/usr/local/bin/some-tool-name-v2 --max-tokens 4096 model-large-4-5-20250929',
    '123e4567-e89b-12d3-a456-426614174000 at 2026-03-10T06:00:00.000Z',
    'the bearer credential is lacking, the token was not accepted',
    'aws sts get-session-token && echo $API_KEY',
    'restrictApiKeyCreationToManagers',
    'https://h.example:8443/a/b.git',
    'someone@example.com',
    '10.0.0.0/8',
    'a [redacted:0123abcd] b',
    'API_KEY=[redacted:0123abcd]',
  ])('keeps %s', (text) => {
    expect(withoutSecrets(text, mark)).toBe(text)
  })

  it('keeps ids that look random if only known forms are redacted', () => {
    const id = 'msg_01HZX8Q4T2N5V7B9C3D6F8G0J1'
    expect(withoutKnownForms(id, mark)).toBe(id)
    expect(withoutKnownForms('sk-live-0123456789abcdef', mark)).toBe('[redacted]')
  })

  it.each(['eyJaaaa-', 'eyJ', 'a', '=', '?a=', '-----BEGIN PRIVATE KEY-----', 'API_KEY=', 'a1'])(
    'with work that grows linearly for repeated %j',
    (unit) => {
      expect(growthOf((text) => withoutSecrets(text, mark), unit)).toBeLessThan(LINEAR)
    },
  )
})

describe('names', () => {
  it.each([
    'apiKey',
    'API_KEY',
    'apikey',
    'x-api-key',
    'clientSecret',
    'password1',
    'accessToken',
    'credentials',
    'Authorization',
    'set-cookie',
    'authToken',
    'tokens',
    'dbPasswd',
  ])('%s names a secret', (name) => {
    expect(isSecretName(name)).toBe(true)
  })

  it.each([
    'monkey',
    'keyboard',
    'model',
    'tokenUsage',
    'childInclusiveTokenUsageBySessionId',
    'author',
    'tokenizer',
  ])('%s does not name a secret', (name) => {
    expect(isSecretName(name)).toBe(false)
  })

  it.each(['inputTokens', 'maxToken', 'tokenTtlSeconds', 'thinkingMaxTokens', 'passwordMinLength'])(
    '%s is a count',
    (name) => {
      expect(isSecretNumberName(name)).toBe(false)
    },
  )

  it('a number can be a secret', () => {
    expect(isSecretNumberName('pin')).toBe(true)
    expect(isSecretNumberName('accessToken')).toBe(true)
  })

  it.each(['A', '1', 'aA', 'a1'])('that repeat %j are recognised with linear work', (unit) => {
    for (const is of [isSecretName, isSecretNumberName, isIdName]) {
      expect(growthOf((name) => is(name), unit)).toBeLessThan(LINEAR)
      expect(growthOf((name) => is(`${name}a`), unit)).toBeLessThan(LINEAR)
    }
  })

  it('ids are recognised by their last word', () => {
    expect(['id', 'sessionId', 'commitHash', 'createdAt', 'allowedUserIds'].every(isIdName)).toBe(
      true,
    )
    expect(['idle', 'title', 'text', 'identity'].some(isIdName)).toBe(false)
  })
})
