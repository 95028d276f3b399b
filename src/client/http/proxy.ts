import { UsageError } from '../../lib/errors.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** How https requests leave the network; plain http, which is for loopback alone, never takes a proxy. */
export interface ProxyOptions {
  /** An address, with credentials perhaps; empty: no proxy. */
  readonly httpsProxy: string
  /** Hosts that are reached without it, as NO_PROXY lists them. */
  readonly noProxy: string
}

/**
 * `HTTPS_PROXY` and `NO_PROXY`, in lower case first, as other programs read them. A
 * request goes through a tunnel (CONNECT), so that the proxy sees neither key nor answer.
 *
 * @throws UsageError for a proxy that is none, without what may be its password, and
 *   for an environment that turns the check of certificates off.
 */
export function proxyOf(environment: Environment): ProxyOptions {
  if (environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    throw new UsageError(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 turns the check of certificates off, and anyone on the way could read the key: unset it; NODE_EXTRA_CA_CERTS names a certificate authority of your own',
    )
  }
  const read = (name: string): string =>
    (environment[name.toLowerCase()] ?? environment[name] ?? '').trim()
  return { httpsProxy: addressOfProxy(read('HTTPS_PROXY')), noProxy: read('NO_PROXY') }
}

/** `host:port` is an address without its scheme. */
function addressOfProxy(text: string): string {
  if (text === '') return ''
  const address = text.includes('://') ? text : `http://${text}`
  if (/^https?:\/\//i.test(address) && URL.canParse(address)) return address
  throw new UsageError('HTTPS_PROXY is not the address of a proxy', {
    hint: 'For example http://proxy.example.com:3128; http and https are supported.',
  })
}
