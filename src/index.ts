/** What `import … from 'agent-warehouse'` gives (docs/client.md). */
export { PlatformClient, type PlatformClientOptions } from './client/platform-client.ts'
export {
  ApiError,
  BodyError,
  BodyTooLargeError,
  ContradictionError,
  MAX_COMPUTER_NAME,
  MAX_CONTROLS_PAGE,
  MAX_PAGE_SIZE,
  MAX_USERS_PER_REQUEST,
  MIN_GLOBAL_LIMIT,
  RefusedError,
  requestIdOf,
  TransportError,
  UnknownOutcomeError,
} from './client/index.ts'
export type {
  AnalyticsResponse,
  AnalyticsEndpoint,
  AnalyticsQuery,
  ResponseMetadata,
  ResponseOrigin,
  Computers,
  Controls,
  ControlsQuery,
  Credits,
  DateRangeOptions,
  Limits,
  MetricsQuery,
  OnComputer,
  Problem,
  Readiness,
  ReadinessPage,
  ReadinessQuery,
  RowHandler,
  Served,
  ServedRow,
  Sessions,
  WantedLimit,
} from './client/index.ts'
export type * from './client/types.ts'
export { parseDay, type Day, type DayRange } from './lib/days.ts'
export { AppError, CredentialError, DeferredError, UsageError } from './lib/errors.ts'
export type { Learned, LearnedLimit } from './lib/learned.ts'
