import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { CHROMIUM } from './chromium.ts'

/** Installs Debian's Chromium where there is none. @throws Error when it is not available. */
export function setup(): void {
  if (existsSync(CHROMIUM)) return
  const install = 'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium'
  try {
    execFileSync('sh', ['-c', `${install} || sudo sh -c '${install}'`], { stdio: 'pipe' })
  } catch (cause) {
    const message = `${CHROMIUM} is missing and could not be installed: install Chromium, or set CHROMIUM to its path`
    throw new Error(message, { cause })
  }
}
