export { PlatformClient, userPages, MAX_PAGE_SIZE } from './client.ts'
export type { ClientOptions, DateRangeOptions } from './client.ts'
export type { AnalyticsAnswer, AnalyticsQuery } from './analytics.ts'
export { fieldOf, type ServedRow } from './envelope.ts'
export {
  ApiError,
  BodyError,
  BodyTooLargeError,
  ContradictionError,
  RefusedError,
  requestIdOf,
  TransportError,
  type Problem,
} from './errors.ts'
export { createHttp } from './http.ts'
export type * from './types.ts'
