import { writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/helpers.ts'
import { stage } from './platform-stage.ts'

it('limits set --csv accepts the output of query --analysis proposed_limits unchanged', async () => {
  const { run } = await stage({ users: 12, firstDay: '2026-01-14' })
  const night = await run(['run', '--log', 'none'])
  expect(night, night.err).toMatchObject({ code: 0 })
  const proposed = await run(['query', '--analysis', 'proposed_limits', '--format', 'csv'])
  const [header, ...lines] = proposed.out.trim().split('\n')
  expect(header).toBe('email,limit')
  expect(lines.length).toBeGreaterThan(3)
  for (const line of lines) expect(line).toMatch(/^[^,@]+@[^,@]+,\d+00000$/)

  const file = `${await temporaryFolder()}/limits.csv`
  await writeFile(file, proposed.out)
  const set = await run(['limits', 'set', '--csv', file, '--yes', '--json'])
  expect(set, set.err).toMatchObject({ code: 0 })
  expect(JSON.parse(set.out)).toMatchObject({ set: lines.length })
  const again = await run(['limits', 'set', '--csv', file, '--yes', '--json'])
  expect(JSON.parse(again.out)).toMatchObject({ unchanged: lines.length })

  const biggest = `select max(billable_tokens) as credits from mart_limit_usage
    where user_email is not null`
  const found = JSON.parse((await run(['query', biggest, '--json'])).out) as { credits: number }[]
  expect(Number(lines[0]?.split(',')[1])).toBeGreaterThan(found[0]?.credits ?? NaN)
})
