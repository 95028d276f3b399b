import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { packageRoot } from '../../src/store/root.ts'
import { command } from '../command.ts'
import { temporaryFolder } from '../helpers.ts'

const NOW = Date.parse('2026-02-03T05:00:00Z')
const TABLES = ['fct_org_day', 'fct_user_day', 'fct_user_model_day', 'fct_tool_day', 'dim_user']

describe('a run that is killed', () => {
  it.each([2, 6, 9, 15, 24])(
    'at request %i leaves nothing half done: the next run makes the same warehouse',
    async (killAt) => {
      const running: { victim?: ChildProcess } = {}
      const emulator = await startEmulator({
        users: 12,
        now: () => NOW,
        intercept: ({ number }) => {
          if (number === killAt) running.victim?.kill('SIGKILL')
          return undefined
        },
      })
      onTestFinished(() => emulator.close())
      const [killed, undisturbed] = [await temporaryFolder(), await temporaryFolder()]
      const environment = (data: string): Record<string, string> => ({
        PATH: process.env['PATH'] ?? '',
        AGENT_BASE_URL: emulator.url,
        AGENT_API_KEY: emulator.keys.manager,
        AGENT_WAREHOUSE_DATA: data,
        AGENT_WAREHOUSE_RATE: '2000',
      })
      const main = join(packageRoot, 'dist', 'cli', 'main.js')
      const victim = spawn(process.execPath, [main, 'run', '--log', 'none'], {
        env: environment(killed),
        stdio: 'ignore',
      })
      running.victim = victim
      const [, signal] = (await once(victim, 'exit')) as [number | null, string | null]
      expect(signal).toBe('SIGKILL')

      const again = await command(['run', '--log', 'none'], environment(killed))
      expect(again, again.err).toMatchObject({ code: 0 })
      await command(['run', '--log', 'none'], environment(undisturbed))
      for (const table of TABLES) {
        const rows = (data: string) =>
          command(['query', `from ${table}`, '--json'], environment(data))
        expect((await rows(killed)).out, table).toBe((await rows(undisturbed)).out)
      }
      const files = await readdir(killed, { recursive: true })
      expect(files.filter((name) => name.endsWith('.part') || name.includes('parts/'))).toEqual([])
      expect(await rawFiles(killed)).toBe(await rawFiles(undisturbed))
    },
  )
})

async function rawFiles(data: string): Promise<number> {
  const files = await readdir(join(data, 'lake', 'raw'), { recursive: true })
  return files.filter((name) => name.endsWith('.parquet')).length
}
