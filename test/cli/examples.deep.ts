import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MAIN, startCommand } from '../support/command.ts'
import { ALL, exampleStage, testExamples, wordsOf } from './examples.ts'

describe('an example of --help', () => {
  const stageOf = exampleStage()
  testExamples(stageOf)

  const inShell = ALL.filter((each) => each.includes('| '))
  it.each(inShell)('can be copied into a shell: %s', async (line) => {
    const stage = stageOf()
    const bin = join(await stage.folder(), 'bin')
    await mkdir(bin)
    await writeFile(
      join(bin, 'agent-warehouse'),
      `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`,
    )
    await chmod(join(bin, 'agent-warehouse'), 0o755)
    const env = { ...stage.environment, PATH: `${bin}:${stage.environment['PATH'] ?? ''}` }
    const shell = line.replaceAll('$0', 'agent-warehouse')
    const error = await new Promise((resolve) => {
      execFile('/bin/sh', ['-c', shell], { cwd: stage.cwd, env }, resolve)
    })
    expect(error).toBeNull()
  })

  const endless = ALL.filter((each) => each.startsWith('$0 emulate'))
  it.each(endless)('serves until it is interrupted: %s', async (line) => {
    const [, ...args] = wordsOf(line)
    // Other ports: those of the example may be in use.
    const running = startCommand([...args, '--port', '0', '--app-port', '0'])
    onTestFinished(() => {
      running.kill('SIGKILL')
    })
    await running.untilPrinted('Ctrl-C')
    running.kill('SIGINT')
    expect((await running.outcome).code).toBe(0)
  })

  it('has no placeholder that a shell or the command would misread', () => {
    expect(ALL.filter((each) => /[<>…]|\.\.\./.test(each))).toEqual([])
    expect(ALL.length).toBeGreaterThan(60)
  })
})
