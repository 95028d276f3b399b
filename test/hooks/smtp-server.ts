import { createServer, type Socket } from 'node:net'
import { listening } from '../support/helpers.ts'

export interface Mail {
  readonly from: string
  readonly to: readonly string[]
  /** As it arrived, dots unstuffed. */
  readonly data: string
  /** The credentials of the client; null: it did not authenticate. */
  readonly auth: { readonly user: string; readonly password: string } | null
}

export interface SmtpServer {
  readonly port: number
  readonly mails: Mail[]
  /** Every line that clients sent outside of DATA. */
  readonly lines: string[]
}

export interface SmtpBehaviour {
  readonly auth?: { readonly user: string; readonly password: string }
  /** The response to the n-th command of this name, in place of the usual one. */
  readonly answer?: (command: string, count: number) => string | undefined
  /** Never answers. */
  readonly isSilent?: boolean
}

/** A server on loopback that speaks SMTP (RFC 5321) with AUTH PLAIN (RFC 4954). */
export async function smtpServer(behaviour: SmtpBehaviour = {}): Promise<SmtpServer> {
  const mails: Mail[] = []
  const lines: string[] = []
  const counts = new Map<string, number>()
  const server = createServer((socket) => {
    if (behaviour.isSilent !== true) converse(socket, { behaviour, mails, lines, counts })
  })
  return { port: await listening(server), mails, lines }
}

interface Conversation {
  readonly behaviour: SmtpBehaviour
  readonly mails: Mail[]
  readonly lines: string[]
  readonly counts: Map<string, number>
}

function converse(socket: Socket, { behaviour, mails, lines, counts }: Conversation): void {
  let auth: Mail['auth'] = null
  let from = ''
  let to: string[] = []
  let data: string[] | null = null
  let rest = ''
  const say = (line: string): void => {
    socket.write(`${line}\r\n`)
  }
  const usual = (command: string, argument: string): string => {
    switch (command) {
      case 'EHLO':
        return behaviour.auth === undefined ? '250 hello' : '250-hello\r\n250 AUTH PLAIN'
      case 'AUTH': {
        const [, user = '', password = ''] = Buffer.from(argument.split(' ')[1] ?? '', 'base64')
          .toString()
          .split('\0')
        const isRight = user === behaviour.auth?.user && password === behaviour.auth.password
        if (isRight) auth = { user, password }
        return isRight ? '235 in' : `535 5.7.8 refused ${argument}`
      }
      case 'MAIL':
        if (behaviour.auth !== undefined && auth === null) return '530 authenticate first'
        from = /<(.*?)>/.exec(argument)?.[1] ?? ''
        to = []
        return '250 ok'
      case 'RCPT':
        to.push(/<(.*?)>/.exec(argument)?.[1] ?? '')
        return '250 ok'
      case 'DATA':
        data = []
        return '354 go on'
      case 'STARTTLS':
        return '502 not here'
      case 'QUIT':
        return '221 bye'
      default:
        return '250 ok'
    }
  }
  const onLine = (line: string): void => {
    if (data !== null) {
      if (line !== '.') {
        data.push(line.startsWith('.') ? line.slice(1) : line)
        return
      }
      mails.push({ from, to, data: data.join('\r\n'), auth })
      data = null
      say('250 taken')
      return
    }
    lines.push(line)
    const [, command = '', argument = ''] = /^(\w+) ?(.*)$/.exec(line) ?? []
    const count = (counts.get(command) ?? 0) + 1
    counts.set(command, count)
    say(behaviour.answer?.(command, count) ?? usual(command, argument))
    if (command === 'QUIT') socket.end()
  }
  socket.on('data', (chunk) => {
    const all = (rest + chunk.toString()).split('\r\n')
    rest = all.pop() ?? ''
    for (const line of all) onLine(line)
  })
  say('220 here')
}
