import type { World } from '../core/world.ts'
import type { AnswerOrigin, PlatformClient } from '../client/index.ts'
import type { IntervalBook } from './book.ts'
import type { Breaker } from './failures.ts'
import type { RawWriter } from './land.ts'
import type { PageOrigin } from './page-text.ts'
import type { LooksOfRun } from './shrink.ts'
import type { Widths } from './widths.ts'

/** What every task of one organisation's plan works with. */
export interface FetchContext {
  readonly client: PlatformClient
  readonly writer: RawWriter
  readonly book: IntervalBook
  readonly breaker: Breaker
  readonly widths: Widths
  readonly looks: LooksOfRun
  readonly world: World
  readonly runId: string
  /** The platform's clock less this machine's, milliseconds. */
  readonly skewMs: number
}

/** Where the rows of an answer come from. */
export function originOf(context: FetchContext, answer: AnswerOrigin, page: number): PageOrigin {
  return {
    page,
    fetchedAt: context.world.now() + context.skewMs,
    request: answer.request,
    requestId: answer.requestId,
    runId: context.runId,
  }
}
