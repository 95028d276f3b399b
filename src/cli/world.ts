import { setMaxListeners } from 'node:events'
import { proxyOf } from '../client/index.ts'
import type { OrganisationConfig } from '../config/config.ts'
import { addressedEvent } from '../config/organisations.ts'
import { DeferredError } from '../lib/errors.ts'
import type { RunEvent } from '../lib/events.ts'
import { grouped } from '../lib/grouped.ts'
import { createNodeWorld } from '../client/http/node-world.ts'
import type { Terminal } from './command.ts'
import { SIGNALS } from './signals.ts'

/** A service manager kills a process about 10 s after its signal. */
const GRACE_MS = 8_000

/**
 * The real chance and network, and the terminal's clock; `close` ends its connections and signal handlers.
 *
 * @throws UsageError for an invalid proxy, and if certificates would not be checked.
 */
export function createWorld(
  emit: (event: RunEvent) => void,
  { environment, now }: Pick<Terminal, 'environment' | 'now'>,
) {
  const proxy = proxyOf(environment)
  const stop = stopOnSignals(emit)
  const node = createNodeWorld({ emit, signal: stop.signal, hangUp: stop.hangUp }, now, proxy)
  return {
    world: node.world,
    close: async () => {
      stop.close()
      await node.close()
    },
  }
}

/** Prints warnings, such as that of the first signal, as plain lines. */
export function showingWarnings({ err }: Pick<Terminal, 'err'>): (event: RunEvent) => void {
  return (event) => {
    if (event.type === 'warning') err(`${event.message}\n`)
  }
}

const NAMED = 10

/** Reports, before the first request, where credentials are sent and whether they are kept safely. */
export function announce(
  organisations: readonly OrganisationConfig[],
  emit: (event: RunEvent) => void,
): void {
  const addressed = organisations.map(addressedEvent)
  const isFleet = organisations.length > NAMED
  const groups = grouped(addressed, ({ name, addresses }) => (isFleet ? addresses.join(' ') : name))
  for (const [first, ...others] of groups.values()) {
    emit(others.length === 0 ? first : { ...first, others: others.length })
  }
  for (const { keyWarning: message } of organisations)
    if (message !== null) emit({ type: 'warning', message })
}

/** The first signal stops new requests, the second running work, the third the process. */
function stopOnSignals(emit: (event: RunEvent) => void) {
  const [asking, underWay] = [new AbortController(), new AbortController()]
  // One listener for each request.
  for (const { signal } of [asking, underWay]) setMaxListeners(0, signal)
  let grace: NodeJS.Timeout | undefined
  const close = (): void => {
    clearTimeout(grace)
    for (const name of SIGNALS) process.off(name, onSignal)
  }
  const onSignal = (name: NodeJS.Signals): void => {
    const reason = new DeferredError(`stopped by ${name}`, {
      hint: 'What has landed and what was published stay; run the command again to continue.',
    })
    if (asking.signal.aborted) {
      underWay.abort(reason)
      close()
      return
    }
    const message = `${name}: stopping; no more requests are sent, and those in progress have ${GRACE_MS / 1000} s to finish, or until the next signal; a third signal ends the process`
    emit({ type: 'warning', message })
    asking.abort(reason)
    grace = setTimeout(() => {
      underWay.abort(reason)
    }, GRACE_MS)
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  return { signal: asking.signal, hangUp: underWay.signal, close }
}
