import { createHmac } from 'node:crypto'
import { isSafe } from '../lib/trust.ts'
import { wholeBody } from '../lib/world.ts'
import { retryAfterMs } from '../client/rate-limit/header-values.ts'
import {
  DELIVERED,
  later,
  reasonOf,
  refused,
  type Attempt,
  type Delivery,
  type Message,
} from './attempt.ts'
import { secretOf, type ChannelOf } from './channels.ts'

const MAX_ANSWER_BYTES = 1024 * 1024

/** Statuses that may pass: RFC 9110, and 429 of RFC 6585. */
const PASSING: ReadonlySet<number> = new Set([408, 421, 423, 425, 429])

/** Sends `{"text": …}`, which incoming webhooks of team chats accept. */
export function sendToChat(
  { url_env }: ChannelOf<'team-chat'>,
  message: Message,
  delivery: Delivery,
): Promise<Attempt> {
  const body = JSON.stringify({ text: chatText(message.text) })
  return post({ variable: url_env, id: message.id, body }, delivery)
}

/** The text without a chat's markup, and without mentions of everybody. */
function chatText(text: string): string {
  return withoutMarkup(text).replaceAll(/@(?=(?:all|channel|everyone|here)\b)/gi, '@\u200b')
}

/** Escapes text for chats and desktops, where `&` and `<` begin markup. */
export function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/**
 * Sends the event as it came, with the notification. `X-Signature` is
 * `sha256=<hex HMAC-SHA256 of "<X-Timestamp>.<body>">`; the time, in seconds,
 * lets a receiver refuse a replayed request.
 */
export function sendToWebhook(
  { url_env, secret_env }: ChannelOf<'webhook'>,
  message: Message,
  delivery: Delivery,
): Promise<Attempt> {
  const { id, event_id, event, recorded_at, is_failure, title, text, input } = message
  const fields = JSON.stringify({ id, event_id, event, recorded_at, is_failure, title, text })
  const body = `${fields.slice(0, -1)},"input":${input}}`
  const timestamp = String(Math.floor(delivery.world.now() / 1000))
  const secret = secretOf(secret_env, delivery.environment)
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  const headers = {
    'x-timestamp': timestamp,
    ...(secret === '' ? {} : { 'x-signature': `sha256=${signature}` }),
  }
  return post({ variable: url_env, id, body, headers, secret }, delivery)
}

interface Post {
  /** The variable that holds the address. */
  readonly variable: string
  readonly id: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  readonly secret?: string
}

async function post(
  { variable, id, body, headers = {}, secret = '' }: Post,
  { world, environment, timeoutMs }: Delivery,
): Promise<Attempt> {
  const url = secretOf(variable, environment)
  if (!URL.canParse(url) || !isSafe(new URL(url))) {
    return refused(`${variable} is not an https URL (plain http is accepted for this machine only)`)
  }
  try {
    const answer = await world.fetch({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'agent-warehouse',
        'idempotency-key': id,
        'x-delivery-id': id,
        ...headers,
      },
      body,
      timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      signal: world.hangUp,
    })
    const { status } = answer
    await wholeBody(answer.body)
    if (status >= 200 && status < 300) return DELIVERED
    const reason = `answered with ${status}`
    if (status < 500 && !PASSING.has(status)) return refused(reason)
    return later(reason, retryAfterMs(answer.headers, world.now()))
  } catch (error) {
    // Any part of the address may be secret.
    const { pathname, search } = new URL(url)
    const parts = [pathname + search, pathname, search].filter((part) => part.length > 1)
    return later(reasonOf(error, [url, ...parts, secret]))
  }
}
