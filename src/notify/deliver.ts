import {
  DELIVERED,
  later,
  missingIn,
  reasonOf,
  refused,
  secretOf,
  type Attempt,
  type Channel,
  type ChannelOf,
  type Delivery,
  type Message,
} from './channel.ts'
import { createHmac } from 'node:crypto'
import { withoutMarkup } from '../lib/text.ts'
import { isSafe, commandEnvironment } from '../lib/trust.ts'
import { wholeBody } from '../lib/world.ts'
import { retryAfterMs } from '../client/rate-limit/header-values.ts'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { isatty } from 'node:tty'

/** Makes one attempt to deliver a message. Never throws. */
export async function deliver(
  channel: Channel,
  message: Message,
  delivery: Delivery,
): Promise<Attempt> {
  const [variable] = missingIn(channel, delivery.environment)
  if (variable !== undefined) {
    return refused(`${variable} is not set in the environment that the agent runs its hooks in`)
  }
  switch (channel.type) {
    case 'desktop':
      // One attempt, because hours later the message is out of date.
      return runFirst([desktopProgram(delivery.platform, message)], delivery)
    case 'sound': {
      // Plays the file, or rings the terminal's bell; one attempt, too.
      const { file, player } = channel
      if (file === undefined) return ringBell()
      return runFirst(players(delivery.platform, file, player), delivery)
    }
    case 'team-chat': {
      // Incoming webhooks of team chats accept `{"text": …}`.
      const body = JSON.stringify({ text: chatText(message.text) })
      return post({ variable: channel.url_env, id: message.id, body }, delivery)
    }
    case 'webhook':
      return sendToWebhook(channel, message, delivery)
    case 'email': {
      // Imported only for an e-mail, because the library is larger than everything else.
      const { sendEmail } = await import('./email.ts')
      return sendEmail(channel, message, delivery)
    }
  }
}

const MAX_RESPONSE_BYTES = 1024 * 1024

/** Statuses that may pass: RFC 9110, and 429 of RFC 6585. */
const PASSING: ReadonlySet<number> = new Set([408, 421, 423, 425, 429])

/** The text without a chat's markup, and without mentions of everybody. */
function chatText(text: string): string {
  return withoutMarkup(text).replaceAll(/@(?=(?:all|channel|everyone|here)\b)/gi, '@\u200b')
}

/**
 * Sends the event as it came, with the notification. `X-Signature` is
 * `sha256=<hex HMAC-SHA256 of "<X-Timestamp>.<body>">`; the time, in seconds,
 * lets a receiver refuse a replayed request.
 */
function sendToWebhook(
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
    const response = await world.fetch({
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
      maxBytes: MAX_RESPONSE_BYTES,
      signal: world.hangUp,
    })
    const { status } = response
    // the status decides: a body that breaks off must not send an accepted message again
    await wholeBody(response.body).catch(() => undefined)
    if (status >= 200 && status < 300) return DELIVERED
    const reason = `answered with ${status}`
    if (status < 500 && !PASSING.has(status)) return refused(reason)
    return later(reason, retryAfterMs(response.headers, world.now()))
  } catch (error) {
    // Any part of the address may be secret.
    const { pathname, search } = new URL(url)
    const parts = [pathname + search, pathname, search].filter((part) => part.length > 1)
    return later(reasonOf(error, [url, ...parts, secret]))
  }
}

/** A program that is run without a shell: text is passed as an argument or a variable, never as code. */
interface Program {
  readonly file: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

const APPLE_SCRIPT = [
  'on run argv',
  'display notification (item 2 of argv) with title (item 1 of argv)',
  'end run',
]

const BALLOON = [
  'Add-Type -AssemblyName System.Windows.Forms, System.Drawing',
  '$icon = New-Object System.Windows.Forms.NotifyIcon',
  '$icon.Icon = [System.Drawing.SystemIcons]::Information',
  '$icon.Visible = $true',
  "$icon.ShowBalloonTip(10000, $env:HOOK_TITLE, $env:HOOK_TEXT, 'Info')",
  'Start-Sleep -Seconds 5',
  '$icon.Dispose()',
].join('; ')

export function desktopProgram(
  platform: NodeJS.Platform,
  { title, text }: Pick<Message, 'title' | 'text'>,
): Program {
  if (platform === 'darwin') {
    const script = APPLE_SCRIPT.flatMap((line) => ['-e', line])
    return { file: 'osascript', args: [...script, '--', title, text] }
  }
  if (platform === 'win32') {
    return { ...powershell(BALLOON), environment: { HOOK_TITLE: title, HOOK_TEXT: text } }
  }
  // The body may hold markup (Desktop Notifications, "Markup"), so the text is escaped.
  const body = withoutMarkup(text)
  return { file: 'notify-send', args: ['--app-name=agent-warehouse', '--', title, body] }
}

const PLAY = '(New-Object System.Media.SoundPlayer $env:HOOK_FILE).PlaySync()'

export function players(
  platform: NodeJS.Platform,
  file: string,
  player: string | undefined,
): readonly Program[] {
  if (player === undefined && platform === 'win32') {
    return [{ ...powershell(PLAY), environment: { HOOK_FILE: file } }]
  }
  const usual = platform === 'darwin' ? ['afplay'] : ['pw-play', 'paplay', 'aplay']
  return (player === undefined ? usual : [player]).map((each) => ({ file: each, args: [file] }))
}

function powershell(script: string): Program {
  return { file: 'powershell.exe', args: ['-NoProfile', '-NonInteractive', '-Command', script] }
}

async function runFirst(programs: readonly Program[], delivery: Delivery): Promise<Attempt> {
  for (const program of programs) {
    const attempt = await run(program, delivery)
    if (attempt !== undefined) return attempt
  }
  const names = programs.map(({ file }) => file).join(', ')
  return refused(`there is no ${names} on this machine`)
}

/** Undefined if the program does not exist. */
function run(
  { file, args, environment = {} }: Program,
  delivery: Delivery,
): Promise<Attempt | undefined> {
  const options = {
    env: { ...commandEnvironment(delivery.environment), ...environment },
    timeout: delivery.timeoutMs,
    windowsHide: true,
  }
  return new Promise((resolve) => {
    execFile(file, args, options, (error, _out, err) => {
      if (error === null) resolve(DELIVERED)
      else if (error.code === 'ENOENT') resolve(undefined)
      else if (error.killed === true) resolve(refused(`${file} timed out`))
      else resolve(refused(`${file} ended with ${String(error.code)}: ${reasonOf(err)}`))
    })
  })
}

const BELL = '\u0007'

/** Rings the bell of the agent's terminal, which `hooks run` passes on as standard output. */
function ringBell(): Attempt {
  try {
    writeFileSync('/dev/tty', BELL)
  } catch {
    if (!isatty(1)) return refused('there is no terminal for the bell; configure a file to play')
    writeFileSync(1, BELL)
  }
  return DELIVERED
}
