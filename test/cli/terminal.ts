import { join } from 'node:path'
import { expect } from 'vitest'
import type { Outcome } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { asksOrReads, everyCommand, run } from './every-command.ts'
import { hostilePlatform, type Answer } from './hostile-platform.ts'

/** Colours, a window title, C1, direction, zero width, a carriage return. */
export const EVIL = '\u001b[31m\u001b]0;owned\u0007\u009b2J\u0085\u202eevil\u2066\u200b\rX'
const IN_JSON = JSON.stringify(EVIL).slice(1, -1)

/** The only sequences that we print: those that draw progress, and our colours. */
const OWN = /\u001b\[(?:\d+A\r\u001b\[0J|(?:2|22|31|33|39)m)/g
/** Characters that control a terminal, or that it does not show. */
export const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/

function changed(change: (body: string) => string) {
  return (answer: Answer): Answer => ({ ...answer, body: change(answer.body) })
}

/** Refuses every request, with control characters in the Problem body. */
const problem = (status: number) => (): Answer => ({
  status,
  headers: {
    'content-type': 'application/json',
    'x-request-id': 'r-\u009b2J',
    'retry-after': '86400',
  },
  body: JSON.stringify({ title: EVIL, detail: EVIL, requestId: EVIL, metadata: { [EVIL]: EVIL } }),
})

export const inValues = changed((body) =>
  body
    .replaceAll(
      /"(user_email|model_id|title|text|client|name|hostname|status)":"/g,
      `"$1":"${IN_JSON}`,
    )
    .replaceAll('"date":', `"${IN_JSON}":"${IN_JSON}","date":`),
)

/** Places in a response for control characters, so that nothing lands. */
export const WAYS: readonly [string, (answer: Answer) => Answer][] = [
  ['in org_id', changed((body) => body.replace(/"org_id":\s*"[^"]*"/, `"org_id":"${IN_JSON}"`))],
  ['in a date', changed((body) => body.replace(/"date":\s*"[^"]*"/, `"date":"${IN_JSON}"`))],
  ['in an error response (400)', problem(400)],
  ['in a 429', problem(429)],
]

/** Expects that a command has printed no control character of the platform. */
export function expectNoControls(what: string, { out, err }: Outcome): void {
  expect(out, what).not.toMatch(CONTROLS)
  expect(err.replaceAll(OWN, ''), what).not.toMatch(CONTROLS)
}

/** Runs the commands on a platform from which nothing lands, and expects that none prints a control character. */
export async function expectNoneToPrintControls(change: (answer: Answer) => Answer): Promise<void> {
  const folder = await temporaryFolder()
  const { environment, emulator } = await hostilePlatform('fk-key-of-the-test', change)
  const [session = ''] = emulator.sessionIds()
  const [message = ''] = emulator.messageIds(session)
  const all = await everyCommand({ session, message, email: 'a@b.test', text: EVIL })
  for (const invocation of all.filter(asksOrReads)) {
    const args = [...invocation.args, '--debug']
    const outcome = await run(
      { ...invocation, args },
      { ...environment, AGENT_WAREHOUSE_DATA: join(folder, 'data') },
      folder,
    )
    expectNoControls(args.join(' '), outcome)
  }
}
