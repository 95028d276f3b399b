import { expect, it } from 'vitest'
import { stage } from './platform-stage.ts'

it('status shows days that failed in the same way as one gap, with the error of the first', async () => {
  let count = 0
  const { run } = await stage({
    intercept: ({ path }) => {
      if (!path.endsWith('/users')) return undefined
      count += 1
      const body = { status: 400, title: 'Bad Request', detail: 'no', requestId: `req-${count}` }
      return Promise.resolve(Response.json(body, { status: 400 }))
    },
  })
  const range = ['--from', '2026-03-03', '--to', '2026-03-07']
  expect((await run(['sync', '--only', 'users,activity', ...range])).code).toBe(3)
  const { out } = await run(['status'])
  expect(out.match(/^.*gap: users.* failed.*$/gm)).toEqual([
    expect.stringMatching(
      /gap: users 2026-03-03 to 2026-03-07 \(5 days\) failed: GET .*2026-03-03/,
    ),
  ])
})
