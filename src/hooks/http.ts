import { createHmac } from 'node:crypto'
import { isSafe } from '../lib/trust.ts'
import { retryAfterMs } from '../client/rate-limit/header-values.ts'
import { later, reasonOf, refused, secretOf, type Attempt, type Delivery } from './attempt.ts'
import type { ChannelOf } from './config.ts'
import type { Notification } from './outbox.ts'

const MAX_ANSWER_BYTES = 1024 * 1024

/** Answers that may be others later: RFC 9110, and 429 of RFC 6585. */
const PASSING: ReadonlySet<number> = new Set([408, 421, 423, 425, 429])

/** A message into a chat: `{"text": …}`, as incoming webhooks of team chats take it. */
export function sendToChat(
  channel: ChannelOf<'team-chat'>,
  item: Notification,
  delivery: Delivery,
): Promise<Attempt> {
  const body = JSON.stringify({ text: chatText(item.text) })
  return post(channel.url_env, body, headersOf(item), delivery)
}

/** What a chat would obey in a text: mentions of everybody, links, its own markup. */
function chatText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/@(?=(?:all|channel|everyone|here)\b)/gi, '@\u200b')
}

/**
 * The event as it came, with what was made of it. `X-Signature` is
 * `sha256=<hex HMAC-SHA256 of "<X-Timestamp>.<body>">`; the time, in seconds,
 * lets a receiver refuse a recorded request that is sent again.
 */
export function sendToWebhook(
  channel: ChannelOf<'webhook'>,
  item: Notification,
  delivery: Delivery,
): Promise<Attempt> {
  const body = webhookBody(item)
  const timestamp = String(Math.floor(delivery.world.now() / 1000))
  const secret =
    channel.secret_env === undefined ? '' : secretOf(channel.secret_env, delivery.environment)
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  const headers = {
    ...headersOf(item),
    'x-timestamp': timestamp,
    ...(secret === '' ? {} : { 'x-signature': `sha256=${signature}` }),
  }
  return post(channel.url_env, body, headers, delivery, [secret])
}

function webhookBody(item: Notification): string {
  const { id, event_id, event, recorded_at, is_failure, title, text, input } = item
  const told = JSON.stringify({ id, event_id, event, recorded_at, is_failure, title, text })
  return `${told.slice(0, -1)},"input":${input}}`
}

function headersOf({ id }: Notification): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'agent-warehouse',
    'idempotency-key': id,
    'x-delivery-id': id,
  }
}

async function post(
  variable: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  { world, environment, timeoutMs }: Delivery,
  secrets: readonly string[] = [],
): Promise<Attempt> {
  const url = secretOf(variable, environment)
  if (!URL.canParse(url) || !isSafe(new URL(url))) {
    return refused(`${variable} is no https address (plain http is for this machine alone)`)
  }
  try {
    const { status, headers: answered } = await world.fetch({
      method: 'POST',
      url,
      headers,
      body,
      timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      signal: world.hangUp,
    })
    if (status >= 200 && status < 300) return { kind: 'delivered' }
    const reason = `answered with ${status}`
    if (status < 500 && !PASSING.has(status)) return refused(reason)
    return later(reason, retryAfterMs(answered, world.now()))
  } catch (error) {
    return later(reasonOf(error, [url, ...pathOf(url), ...secrets]))
  }
}

/** A secret may be in any part of the address. */
function pathOf(url: string): string[] {
  const { pathname, search } = new URL(url)
  return [pathname + search, pathname, search].filter((part) => part.length > 1)
}
