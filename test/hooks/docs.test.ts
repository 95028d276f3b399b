import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { load } from 'js-yaml'
import { hooksSchema, TEMPLATE_FIELDS } from '../../src/hooks/config.ts'
import { PATIENCE_HOURS } from '../../src/hooks/sender.ts'
import { packageRoot } from '../../src/lib/package.ts'

const page = readFileSync(join(packageRoot, 'docs', 'hooks.md'), 'utf8')

it('the example of docs/hooks.md is a valid configuration with every kind of channel', () => {
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? []
  const { hooks } = load(example) as { hooks: unknown }
  const { channels, rules } = hooksSchema.parse(hooks)
  const kinds = ['desktop', 'sound', 'team-chat', 'webhook', 'email']
  expect([...new Set(Object.values(channels).map(({ type }) => type))]).toEqual(kinds)
  expect(rules).toHaveLength(3)
})

it('docs/hooks.md names the hours of retries and every template field', () => {
  expect(page).toContain(`**${PATIENCE_HOURS} hours**`)
  for (const field of TEMPLATE_FIELDS) expect(page).toContain(`\`${field}\``)
})
