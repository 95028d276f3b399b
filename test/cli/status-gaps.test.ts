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

it('law 11: status shows an error of the platform on one line, so that it makes up no others', async () => {
  const detail = 'bad\n  no gaps\n\nlast runs\n  all complete'
  const { run } = await stage({
    intercept: ({ path }) =>
      /\/tokens|\/computers/.test(path)
        ? Promise.resolve(Response.json({ status: 400, title: 'No', detail }, { status: 400 }))
        : undefined,
  })
  const only = ['--only', 'tokens,activity,computers', '--from', '2026-03-03']
  expect((await run(['sync', ...only])).code).toBe(3)
  const { out } = await run(['status'])
  expect(out).toMatch(/^ {2}gap: tokens .*: bad +no gaps +last runs +all complete/m)
  expect(out).toMatch(/^ {2}computers .*: bad +no gaps +last runs +all complete/m)
  expect(out.match(/^last runs$|^ {2}no gaps$/gm)).toEqual(['last runs'])
})
