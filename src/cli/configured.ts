import { loadConfig, type Config, type ConfigFlags } from '../config/config.ts'
import { setProcessLimits } from '../lib/machine.ts'
import type { Terminal } from './command.ts'

/**
 * The configuration of a command, whose process keeps to its limits from now on.
 *
 * @throws UsageError as `loadConfig` does.
 */
export function configured(
  flags: ConfigFlags,
  { environment, cwd }: Pick<Terminal, 'environment' | 'cwd'>,
): Config {
  const config = loadConfig(flags, environment, cwd)
  setProcessLimits(config.limits)
  return config
}
