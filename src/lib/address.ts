import { UsageError } from './errors.ts'

/** Whether a host is this machine itself. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/.test(host)
}

/** Whether a secret may be sent to the URL: over https, or within this machine. */
export function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/**
 * A host that a key may be sent to, and perhaps a path, without a trailing slash.
 *
 * @throws UsageError for anything but https (plain http on loopback), and for a
 *   user, a query or a fragment in it.
 */
export function addressOf(text: string, what: string, hint: string): string {
  if (!URL.canParse(text)) throw new UsageError(`${what}: '${text}' is not a URL`, { hint })
  const url = new URL(text)
  if (!isSafe(url)) {
    throw new UsageError(`${what}: '${text}' is not https`, {
      hint: 'A key is sent over https only; plain http is for loopback addresses.',
    })
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`${what} must be a host and a path, nothing else`, { hint })
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
