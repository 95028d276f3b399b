import { hash } from 'node:crypto'

const LANES = 8

/**
 * The digest of a set of rows in which a row may stand more than once: the same
 * rows in any order have the same one. The SHA-256 of the rows are added lane by
 * lane, so it takes no memory however many rows there are.
 */
export class RowsDigest {
  rows = 0
  readonly #lanes = new Uint32Array(LANES)

  /** Adds a row: its JSON text exactly as served. */
  add(row: string): void {
    this.rows += 1
    const bytes = hash('sha256', row, 'binary')
    for (let lane = 0; lane < LANES; lane += 1) {
      const at = lane * 4
      const word =
        bytes.charCodeAt(at) |
        (bytes.charCodeAt(at + 1) << 8) |
        (bytes.charCodeAt(at + 2) << 16) |
        (bytes.charCodeAt(at + 3) << 24)
      this.#lanes[lane] = (this.#lanes[lane] ?? 0) + word
    }
  }

  /** Hex, 64 characters. */
  value(): string {
    return digestOf(this.rows, [...this.#lanes])
  }
}

/** The digest of one row alone. */
export function digestOfRow(row: string): string {
  const digest = new RowsDigest()
  digest.add(row)
  return digest.value()
}

/** The digest of rows whose hashes come to these lanes (sql/raw/versions.sql adds them up too). */
export function digestOf(rows: number, lanes: readonly number[]): string {
  return hash('sha256', `${rows}:${lanes.join(',')}`)
}
