import { fieldOf } from '../../client/index.ts'
import { duration } from '../../observe/words.ts'
import { fieldsText, listAt, objectOf, textOf, timeOf } from './render.ts'

const TOKENS = [
  ['inputTokens', 'input'],
  ['outputTokens', 'output'],
  ['cacheCreationTokens', 'cache creation'],
  ['cacheReadTokens', 'cache read'],
  ['thinkingTokens', 'thinking'],
  ['serviceCredits', 'credits'],
] as const

/** One session, a field a line. */
export function sessionText(session: unknown): string {
  const settings = fieldOf(session, 'sessionSettings')
  const active = fieldOf(settings, 'assistantActiveTimeMs')
  const children = fieldOf(settings, 'childInclusiveTokenUsageBySessionId')
  return fieldsText([
    ['session', fieldOf(session, 'sessionId')],
    ['title', fieldOf(session, 'title')],
    ['status', fieldOf(session, 'status')],
    ['messages', fieldOf(session, 'messageCount')],
    ['created at', timeOf(fieldOf(session, 'createdAt'))],
    ['updated at', timeOf(fieldOf(session, 'updatedAt'))],
    ['completed at', timeOf(fieldOf(session, 'completedAt'))],
    ['archived at', timeOf(fieldOf(settings, 'archivedAt'))],
    ['computer', fieldOf(session, 'computerId')],
    ['model', fieldOf(settings, 'model')],
    ['spec mode model', fieldOf(settings, 'specModeModel')],
    ['assistant active', typeof active === 'number' ? duration(active) : active],
    ['tags', listed(listAt(settings, 'tags').map((tag) => fieldOf(tag, 'name')))],
    ['enabled tools', listed(listAt(settings, 'enabledToolIds'))],
    ['disabled tools', listed(listAt(settings, 'disabledToolIds'))],
    ['tokens', usageText(fieldOf(settings, 'tokenUsage'))],
    ['with children', usageText(fieldOf(settings, 'inclusiveTokenUsage'))],
    ['child sessions', listed(Object.keys(objectOf(children)))],
  ])
}

function usageText(usage: unknown): string | undefined {
  return listed(
    TOKENS.flatMap(([field, name]) => {
      const count = fieldOf(usage, field)
      return count === undefined ? [] : [`${name} ${textOf(count)}`]
    }),
  )
}

function listed(values: readonly unknown[]): string | undefined {
  return values.length === 0 ? undefined : values.map(textOf).join(', ')
}
