import type { OrganisationConfig } from '../config/config.ts'
import type { RunEvent } from '../lib/events.ts'

/**
 * Says before the first request where a credential goes and where it comes from:
 * a configuration file can name any host, and any variable, file or command.
 */
export function announce(organisation: OrganisationConfig, emit: (event: RunEvent) => void): void {
  const { name, baseUrl, appUrl, keySource, keyWarning } = organisation
  const origins = [baseUrl, appUrl].flatMap((url) => (url === null ? [] : [new URL(url).origin]))
  emit({ type: 'organisation.addressed', name, origins: [...new Set(origins)], keySource })
  if (keyWarning !== null) emit({ type: 'warning', message: keyWarning })
}
