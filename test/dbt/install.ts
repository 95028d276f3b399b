import { ENVIRONMENTS, install } from './python.ts'

/** Once, before the tests; the next time it is there. */
export function setup(): void {
  for (const list of ENVIRONMENTS) install(list)
}
