import { fieldOf } from '../../client/index.ts'
import { argument, defineCommand } from '../command.ts'
import { platformOptions, withPlatform } from './platform.ts'
import { fieldsText, itemJson, listAt, proseText, textOf, timeOf } from './render.ts'
import { ON_SESSIONS, onComputer, placeOf, sessionArgument } from './sessions.ts'

export const showMessage = defineCommand({
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
  options: { ...platformOptions, ...onComputer, ...sessionArgument, message: argument('its id') },
  run: (flags, terminal) =>
    withPlatform(flags, terminal, { advice: ON_SESSIONS }, async ({ client, clean }) => {
      const on = placeOf(flags)
      const { items } = await client.sessions.fetchMessage(flags.session, flags.message, on)
      return items
        .map((item) => clean('messages', item))
        .map(({ text, value }) => (flags.json ? itemJson(text) : messageText(value)))
        .join('')
    }),
})

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
