import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryPath } from '../../src/lib/files.ts'
import { thisPlace } from '../../src/lib/place.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { leaveLease } from '../support/lease.ts'

it.each([
  ['no file', 0, 'the last run was killed'],
  ['one file', 1, 'the last run was killed; its unfinished file was removed'],
  ['two files', 2, 'the last run was killed; its 2 unfinished files were removed'],
])(
  'a run that was killed and left %s unfinished is reported by the next one',
  async (_, left, message) => {
    const data = await temporaryFolder()
    await leaveLease(join(data, 'state', 'lock'), { ...thisPlace(), begun: 'before' })
    await mkdir(join(data, 'lake', 'raw'), { recursive: true })
    for (let file = 0; file < left; file += 1)
      await writeFile(temporaryPath(join(data, 'lake', 'raw', `${file}.parquet`)), '')
    const { err } = await command(['build'], { AGENT_WAREHOUSE_DATA: data })
    expect(err.split('\n')).toContainEqual(expect.stringMatching(new RegExp(`${message}$`)))
  },
)
