import { expect, it } from 'vitest'
import { stage } from './platform-stage.ts'

it('law 11: a line break in an error of the platform begins no line of standard output', async () => {
  const error = 'bad\r\n::warning::fake'
  const provisioningSteps = [{ id: 'install-deps', status: 'failed', error }]
  const computer = { id: 'c', name: 'n', status: 'active', provisioningSteps }
  const { run } = await stage({ intercept: () => Promise.resolve(Response.json(computer)) })
  const { code, out } = await run(['computers', 'wait', 'c'])
  expect({ code, out }).toEqual({
    code: 1,
    out: 'n (c) is active, install-deps failed: bad\\r\\n::warning::fake\n',
  })
})
