import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { commandEnvironment } from '../lib/trust.ts'
import {
  DELIVERED,
  reasonOf,
  refused,
  type Attempt,
  type Delivery,
  type Message,
} from './attempt.ts'
import type { ChannelOf } from './channels.ts'
import { withoutMarkup } from './http.ts'

/** A program that is run without a shell: text is passed as an argument or a variable, never as code. */
interface Program {
  readonly file: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** Shows a message on the screen. Makes one attempt, because hours later the message is out of date. */
export function showOnDesktop(message: Message, delivery: Delivery): Promise<Attempt> {
  return runFirst([desktopProgram(delivery.platform, message)], delivery)
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

/** Plays a sound, or rings the terminal's bell. Makes one attempt. */
export async function play(
  { file, player }: ChannelOf<'sound'>,
  delivery: Delivery,
): Promise<Attempt> {
  if (file === undefined) return ringBell()
  return runFirst(players(delivery.platform, file, player), delivery)
}

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
