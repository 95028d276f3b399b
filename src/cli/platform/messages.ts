import { fieldOf } from '../../client/index.ts'
import { ExitCode } from '../../lib/errors.ts'
import type { Command, OptionsOf } from '../command.ts'
import { withPlatform } from './platform.ts'
import { fieldsText, itemJson, listAt, proseText, textOf, timeOf } from './render.ts'
import { ON_SESSIONS, sessionOptions } from './sessions.ts'
import type { Argv } from 'yargs'

const options = (yargs: Argv) =>
  sessionOptions(yargs).positional('message', {
    type: 'string',
    demandOption: true,
    describe: 'its id',
  })

export const showMessage: Command<OptionsOf<typeof options>> = {
  examples: [
    [
      '$0 messages show 15f3033e-843f-4cb8-a4c3-5b4134c21f2a a51ef6cc-21e1-4fc7-aee4-e08087433ff7',
      'who, when, and the text',
    ],
    [
      '$0 messages show 15f3033e-843f-4cb8-a4c3-5b4134c21f2a a51ef6cc-21e1-4fc7-aee4-e08087433ff7 --json',
      'as served',
    ],
  ],
  options,
  run: async (flags, terminal) =>
    withPlatform(flags, terminal, { advice: ON_SESSIONS }, async ({ client, clean }) => {
      const on = flags.computer === undefined ? {} : { computerId: flags.computer }
      const { items } = await client.sessions.fetchMessage(flags.session, flags.message, on)
      for (const item of items) {
        const { text, value } = clean('messages', item)
        terminal.out(flags.json ? itemJson(text) : messageText(value))
      }
      return ExitCode.complete
    }),
}

function messageText(message: unknown): string {
  const header = fieldsText([
    ['message', fieldOf(message, 'id')],
    ['role', fieldOf(message, 'role')],
    ['source', fieldOf(message, 'userMessageSource')],
    ['visibility', fieldOf(message, 'visibility')],
    ['answers', fieldOf(message, 'parentId')],
    ['created at', timeOf(fieldOf(message, 'createdAt'))],
    ['updated at', timeOf(fieldOf(message, 'updatedAt'))],
    ['is an error', fieldOf(message, 'isError')],
  ])
  return [header, ...listAt(message, 'content').map(blockText)].join('\n')
}

/** Blocks of other types are not documented: their type is said, --json shows them. */
function blockText(block: unknown): string {
  const text = fieldOf(block, 'text')
  return proseText(typeof text === 'string' ? text : `[${textOf(fieldOf(block, 'type'))}]`)
}
