import { describe, expect, it } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { command, startCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'

describe('emulate', () => {
  it('prints the addresses of its two hosts, and commands work with them', async () => {
    const data = await temporaryFolder()
    const running = startCommand(['emulate', '--port', '0', '--users', '3'])
    await running.untilPrinted('Ctrl-C')
    const environment = { AGENT_WAREHOUSE_DATA: data, ...variablesOf(running.printed()) }
    for (const args of ['computers list', 'readiness list']) {
      const { code, err } = await command(args.split(' '), environment)
      expect(code, err).toBe(0)
    }
    running.kill('SIGINT')
    expect((await running.outcome).code).toBe(0)
  })

  it('listens on the ports that --port and --app-port name', async () => {
    const emulator = await startEmulator({ now: () => Date.now() })
    await emulator.close()
    const [port = '', appPort = ''] = [emulator.url, emulator.appUrl].map(
      (url) => new URL(url).port,
    )
    const running = startCommand(['emulate', '--port', port, '--app-port', appPort])
    await running.untilPrinted('Ctrl-C')
    expect(variablesOf(running.printed())).toMatchObject({
      AGENT_BASE_URL: emulator.url,
      AGENT_APP_URL: emulator.appUrl,
    })
  })
})

/** The variables that a printed command line sets. */
function variablesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/\b(AGENT_[A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  )
}
