export { ApiClient, userPages } from './client.ts'
export type { ClientOptions, DateRangeOptions } from './client.ts'
export { MAX_PAGE_SIZE } from './endpoints/analytics.ts'
export type {
  AnalyticsAnswer,
  AnalyticsQuery,
  AnalyticsTail,
  AnswerOrigin,
  RowTaker,
  UsersPage,
} from './endpoints/analytics.ts'
export { sliceArray, sumOf } from './json/envelope.ts'
export type { RowsSum } from './json/envelope.ts'
export { servedRow, type ServedRow } from './json/row-scanner.ts'
export type { Served } from './http/call.ts'
export {
  Computers,
  lengthOfName,
  MAX_COMPUTER_NAME,
  Sessions,
  type MetricsQuery,
  type OnComputer,
} from './endpoints/sessions.ts'
export {
  checkGlobalLimit,
  Controls,
  Limits,
  MAX_CONTROLS_PAGE,
  MAX_USERS_PER_REQUEST,
  MIN_GLOBAL_LIMIT,
  Readiness,
  type ControlsQuery,
  type Credits,
  type ReadinessPage,
  type ReadinessQuery,
  type WantedLimit,
} from './endpoints/organisation.ts'
export {
  ApiError,
  BodyError,
  BodyTooLargeError,
  ContradictionError,
  outOfTime,
  RefusedError,
  requestIdOf,
  TransportError,
  UnknownOutcomeError,
  type Problem,
} from './errors.ts'
export { createHttp, proxyOf, type ProxyOptions } from './http/client.ts'
export type * from './types.ts'
export { fieldOf } from '../lib/json.ts'
