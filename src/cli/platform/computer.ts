import { ApiError, fieldOf, lengthOfName, MAX_COMPUTER_NAME } from '../../client/index.ts'
import type { Advice } from './failures.ts'
import type { Clean, Platform } from './platform.ts'
import { textOf } from './render.ts'

const LIST = 'agent-warehouse computers list shows the computers that there are.'

/** What to do next after a request about a computer. */
export const ON_COMPUTERS: Advice = { 404: LIST }

/** The computer of that id, or else of that name. */
export async function computerOf({ client, clean }: Platform, idOrName: string): Promise<Clean> {
  const item = await client.computers.fetch(idOrName).catch((error: unknown) => {
    if (!mayBeName(error, idOrName)) throw error
    return client.computers.fetchByName(idOrName)
  })
  return clean('computers', { text: item.items[0]?.text ?? '{}' })
}

/** The name and the id, for people. */
export function labelOf(computer: unknown): string {
  return `${textOf(fieldOf(computer, 'name'))} (${textOf(fieldOf(computer, 'id'))})`
}

function mayBeName(error: unknown, idOrName: string): boolean {
  const isNoId = error instanceof ApiError && [400, 404, 422].includes(error.status)
  return isNoId && lengthOfName(idOrName) <= MAX_COMPUTER_NAME
}
