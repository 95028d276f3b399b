export { PlatformClient, userPages } from './client.ts'
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
export { fieldOf, sliceArray, sumOf } from './json/envelope.ts'
export type { RowsSum } from './json/envelope.ts'
export { servedRow, type ServedRow } from './json/row-scanner.ts'
export type { Served } from './http/call.ts'
export {
  Computers,
  lengthOfName,
  MAX_COMPUTER_NAME,
  type MetricsQuery,
} from './endpoints/computers.ts'
export { Controls, MAX_CONTROLS_PAGE, type ControlsQuery } from './endpoints/controls.ts'
export {
  checkGlobalLimit,
  Limits,
  MAX_USERS_PER_REQUEST,
  MIN_GLOBAL_LIMIT,
  type Credits,
  type WantedLimit,
} from './endpoints/limits.ts'
export { Readiness, type ReadinessPage, type ReadinessQuery } from './endpoints/readiness.ts'
export { Sessions, type OnComputer } from './endpoints/sessions.ts'
export {
  ApiError,
  BodyError,
  BodyTooLargeError,
  ContradictionError,
  RefusedError,
  requestIdOf,
  TransportError,
  UnknownOutcomeError,
  type Problem,
} from './errors.ts'
export { createHttp } from './http/client.ts'
export { proxyOf, type ProxyOptions } from './http/proxy.ts'
export type * from './resource-types.ts'
export type * from './types.ts'
