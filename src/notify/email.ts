import {
  DELIVERED,
  later,
  reasonOf,
  refused,
  secretOf,
  type Attempt,
  type ChannelOf,
  type Delivery,
  type Message,
} from './channel.ts'

const PORTS = { tls: 465, starttls: 587, none: 25 } as const

/** An e-mail over SMTP. Its `Message-ID` is the same at every attempt. The only door to nodemailer. */
export async function sendEmail(
  channel: ChannelOf<'email'>,
  message: Message,
  { environment, timeoutMs }: Delivery,
): Promise<Attempt> {
  const { host, security, user, from, to } = channel
  const password = secretOf(channel.password_env, environment)
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    host,
    port: channel.port ?? PORTS[security],
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(user === undefined ? {} : { auth: { user, pass: password } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    const { rejected } = await transport.sendMail({
      from,
      to,
      subject: message.title,
      text: `${message.text}\n`,
      date: new Date(message.recorded_at),
      // The other limits are for a silent server, this one for a slow one.
      signal: AbortSignal.timeout(4 * timeoutMs),
      messageId: `<${message.id}@agent-warehouse.invalid>`,
    })
    // The other addresses have received it, so it must not be sent again.
    return rejected.length === 0
      ? DELIVERED
      : refused(`refused for ${rejected.length} of ${to.length} addresses`)
  } catch (error) {
    const base64 = Buffer.from(password).toString('base64')
    const plainAuth = Buffer.from(`\0${user ?? ''}\0${password}`).toString('base64')
    const reason = reasonOf(error, [password, base64, plainAuth])
    return isFinal(error) ? refused(reason) : later(reason)
  } finally {
    transport.close()
  }
}

/** True if the server refused permanently (RFC 5321: 5yz). */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error) || !('responseCode' in error)) return false
  return typeof error.responseCode === 'number' && error.responseCode >= 500
}
