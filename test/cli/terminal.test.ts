import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../helpers.ts'
import { everyCommand, onTerminal } from './every-command.ts'
import { hostilePlatform, type Answer } from './hostile-platform.ts'

/** Colours, a window's title, C1, direction, no room, a carriage return. */
const EVIL = '\u001b[31m\u001b]0;owned\u0007\u009b2J\u0085\u202eevil\u2066\u200b\rX'
const IN_JSON = JSON.stringify(EVIL).slice(1, -1)

/** What draws the progress, and our own colours: no more than these. */
const OWN = /\u001b\[(?:\d+A\r\u001b\[0J|(?:2|22|31|33|39)m)/g
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/

function changed(change: (body: string) => string) {
  return (answer: Answer): Answer => ({ ...answer, body: change(answer.body) })
}

const problem = (status: number) => (): Answer => ({
  status,
  headers: {
    'content-type': 'application/json',
    'x-request-id': 'r-\u009b2J',
    'retry-after': '86400',
  },
  body: JSON.stringify({ title: EVIL, detail: EVIL, requestId: EVIL, metadata: { [EVIL]: EVIL } }),
})

const WAYS: readonly [string, (answer: Answer) => Answer][] = [
  [
    'in names and values',
    changed((body) =>
      body
        .replaceAll(
          /"(user_email|model_id|title|text|client|name|hostname|status)":"/g,
          `"$1":"${IN_JSON}`,
        )
        .replaceAll('{"date":', `{"${IN_JSON}":"${IN_JSON}","date":`),
    ),
  ],
  [
    'in the organisation',
    changed((body) => body.replace(/"org_id":\s*"[^"]*"/, `"org_id":"${IN_JSON}"`)),
  ],
  ['in a date', changed((body) => body.replace(/"date":\s*"[^"]*"/, `"date":"${IN_JSON}"`))],
  ['in a 400', problem(400)],
  ['in a 429', problem(429)],
]

/** Every command is run, and a build takes most of it: on a busy machine minutes. */
const PATIENCE = { timeout: 600_000 }

describe('nothing that the platform says is obeyed by the terminal', PATIENCE, () => {
  test.each(WAYS)('%s: every command', async (_, change) => {
    const folder = await temporaryFolder()
    const { environment, emulator } = await hostilePlatform('fk-key-of-the-test', change)
    const [session = ''] = emulator.sessionIds()
    const [message = ''] = emulator.messageIds(session)
    for (const args of await everyCommand({ session, message, email: 'a@b.test' })) {
      const { out, err } = await onTerminal(
        [...args, '--debug'],
        { ...environment, AGENT_WAREHOUSE_DATA: join(folder, 'data') },
        folder,
      )
      expect(out, args.join(' ')).not.toMatch(OBEYED)
      expect(err.replaceAll(OWN, ''), args.join(' ')).not.toMatch(OBEYED)
    }
  })

  test('arguments of the caller are not obeyed either', async () => {
    const { err, code } = await onTerminal(['query', `select '${EVIL}`, EVIL], {}, '/')
    expect(code).toBe(2)
    expect(err).not.toMatch(OBEYED)
  })
})
