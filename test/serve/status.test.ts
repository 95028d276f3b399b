import { mkdir } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { addDays, HISTORY_START } from '../../src/lib/days.ts'
import { rawFolder } from '../../src/lake/layout.ts'
import { rememberOrganisation } from '../../src/lake/organisations.ts'
import { readStatus } from '../../src/serve/status.ts'
import { temporaryFolder } from '../support/helpers.ts'

it('shows an organisation under the name of its last run, also if it was renamed and renamed back', async () => {
  const data = await temporaryFolder()
  await mkdir(rawFolder(data, 'o', 'tokens', HISTORY_START), { recursive: true })
  for (const [night, name] of ['acme', 'renamed', 'acme'].entries()) {
    const seen = { orgId: 'o', servedAs: 'o', lastDay: addDays(HISTORY_START, night), skewMs: 0 }
    await rememberOrganisation(data, name, seen, (message) => expect.fail(message))
  }
  const { organisations } = await readStatus(data, 0, () => Promise.resolve(new Map()))
  expect(organisations.map(({ name }) => name)).toEqual(['acme'])
})
