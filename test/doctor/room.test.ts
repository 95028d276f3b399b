import { describe, expect, it } from 'vitest'
import { roomFinding } from '../../src/doctor/folder.ts'

describe('the room on the disk', () => {
  const GB = 1e9
  it.each([
    ['enough', { bytes: GB, inodes: 1_000_000 }, 'ok', '1.0 GB free'],
    ['no fixed number of inodes', { bytes: GB, inodes: null }, 'ok', '1.0 GB free'],
    ['little space', { bytes: 1e6, inodes: 10 }, 'warning', '1.0 MB free'],
    [
      'few inodes',
      { bytes: GB, inodes: 1234 },
      'warning',
      '1.0 GB free, but only 1,234 inodes (df -i)',
    ],
    ['an unknown size', null, 'ok', 'the free space is unknown'],
  ])('with %s', (_, free, state, message) => {
    expect(roomFinding(free, 256e6)).toMatchObject({ state, message })
  })
})
