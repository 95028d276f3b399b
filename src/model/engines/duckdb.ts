import { literal } from '../../lib/duckdb.ts'

/**
 * The oldest storage format that DuckDB 1.5 writes with all that the models
 * need: readers from DuckDB 1.0.0 on open the published file.
 */
export const STORAGE_VERSION = 'v1.0.0'

/** DuckDB's version and the storage format, as SQL: another one may compute or write otherwise. */
export const ENGINE = `'DuckDB ' || version() || ${literal(`, storage ${STORAGE_VERSION}`)}`
