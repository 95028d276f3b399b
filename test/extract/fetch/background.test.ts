import { describe, expect, it } from 'vitest'
import { Background } from '../../../src/extract/fetch/background.ts'

/** Work that has begun when it is asked for, and ends when it is told to. */
class Work {
  begun = false
  end: (error?: Error) => void = () => undefined
  readonly run = async (): Promise<void> => {
    this.begun = true
    await new Promise<void>((resolve, reject) => {
      this.end = (error) => {
        if (error === undefined) resolve()
        else reject(error)
      }
    })
  }
}

describe('work behind the requests', () => {
  it('begins at once, up to as much as there is room for', async () => {
    const behind = new Background(2)
    const [first, second, third] = [new Work(), new Work(), new Work()]
    await behind.add(first.run)
    await behind.add(second.run)
    const added = behind.add(third.run)
    expect([first.begun, second.begun, third.begun]).toEqual([true, true, false])
    second.end()
    await added
    expect(third.begun).toBe(true)
    first.end()
    third.end()
    await behind.ended()
  })

  it('that fails is told to whoever adds more, and at the end, when all has ended', async () => {
    const behind = new Background(3)
    const [failing, slow, never] = [new Work(), new Work(), new Work()]
    await behind.add(failing.run)
    await behind.add(slow.run)
    failing.end(new Error('no room on the disk'))
    await new Promise(setImmediate)
    await expect(behind.add(never.run)).rejects.toThrow('no room')
    expect(never.begun).toBe(false)
    const ended = behind.ended()
    slow.end()
    await expect(ended).rejects.toThrow('no room')
  })
})
