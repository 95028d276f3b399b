export { PlatformClient, userPages } from './client.ts'
export type { ClientOptions, DateRangeOptions } from './client.ts'
export { MAX_PAGE_SIZE } from './analytics.ts'
export type {
  AnalyticsAnswer,
  AnalyticsQuery,
  AnalyticsTail,
  AnswerOrigin,
  RowTaker,
  UsersPage,
} from './analytics.ts'
export { fieldOf, sliceArray, sumOf } from './envelope.ts'
export type { RowsSum } from './envelope.ts'
export { servedRow, type ServedRow } from './row-scanner.ts'
export type { Served } from './call.ts'
export { Computers, lengthOfName, MAX_COMPUTER_NAME, type MetricsQuery } from './computers.ts'
export { Controls, MAX_CONTROLS_PAGE, type ControlsQuery } from './controls.ts'
export {
  checkGlobalLimit,
  Limits,
  MAX_USERS_PER_REQUEST,
  MIN_GLOBAL_LIMIT,
  type Credits,
  type WantedLimit,
} from './limits.ts'
export { Readiness, type ReadinessPage, type ReadinessQuery } from './readiness.ts'
export { Sessions, type OnComputer } from './sessions.ts'
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
export { createHttp } from './http.ts'
export { proxyOf, type ProxyOptions } from './proxy.ts'
export type * from './resource-types.ts'
export type * from './types.ts'
