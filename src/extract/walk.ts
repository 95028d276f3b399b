import type { Day } from '../core/days.ts'
import { userPages } from '../client/index.ts'
import { originOf, type FetchContext } from './context.ts'
import { isFatal } from './failures.ts'
import type { PageOrigin } from './part.ts'
import type { Resource } from './resources.ts'
import { usersOfPage } from './rows.ts'

/** Lands one day of users, page by page. A day that cannot be had is recorded as failed. */
export async function fetchUsersDay(
  context: FetchContext,
  resource: Resource,
  day: Day,
): Promise<void> {
  const part = await context.writer.begin(resource.name, day)
  try {
    const users = new Set<string>()
    let page = 0
    let origin: PageOrigin | undefined
    for await (const answer of userPages(context.client, { first: day, last: day })) {
      page += 1
      origin = originOf(context, answer, page)
      for (const user of usersOfPage(answer, day)) users.add(user)
      await part.addPage(
        answer.rows.map((row) => row.text),
        origin,
      )
      context.book.pageLanded(resource.name, day, answer.rows.length)
    }
    if (origin === undefined) return
    const result = await context.writer.land(resource.name, day, part)
    await context.book.landed(resource.name, [{ day, origin, result, rowCount: users.size }])
    context.breaker.succeeded(resource.name)
  } catch (error) {
    await part.discard()
    if (isFatal(error)) throw error
    context.breaker.failed(resource.name, error)
    await context.book.failed(resource.name, [day], error)
  }
}
