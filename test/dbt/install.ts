import { ENVIRONMENTS, install } from './python.ts'

/** Installs once, before the tests; later runs find it installed. */
export function setup(): void {
  for (const list of ENVIRONMENTS) install(list)
}
