import { onTestFinished } from 'vitest'
import { startEmulator, type Emulator, type EmulatorOptions } from '../../src/emulator/emulator.ts'

/** The stand-in platform, which ends with the test. */
export async function standIn(options: EmulatorOptions): Promise<Emulator> {
  const emulator = await startEmulator(options)
  onTestFinished(() => emulator.close())
  return emulator
}

/** The environment of a command that loads the stand-in platform into a data folder. */
export function environmentOf({ url, keys }: Emulator, data: string) {
  return {
    AGENT_BASE_URL: url,
    AGENT_API_KEY: keys.manager,
    AGENT_WAREHOUSE_DATA: data,
    AGENT_WAREHOUSE_RATE: '2000',
  }
}
