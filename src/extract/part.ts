import { mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { RowsDigest } from './rows-digest.ts'

/** Where a page's rows come from; repeated on every raw row. */
export interface PageOrigin {
  readonly page: number
  /** By the platform's clock, milliseconds since the epoch. */
  readonly fetchedAt: number
  readonly request: string
  readonly requestId: string | null
  readonly runId: string
}

/** What a closed part holds. */
export interface PartContent {
  readonly path: string
  readonly rows: number
  /** Bytes of the longest line. */
  readonly longestLine: number
  /** Of the rows, whatever their order. */
  readonly digest: string
  readonly last: PageOrigin
}

/**
 * The rows of one day on their way to the lake: JSON lines aside, page by
 * page, so that memory does not grow with the day.
 */
export class Part {
  readonly path: string
  readonly #file: FileHandle
  readonly #digest = new RowsDigest()
  #longestLine = 0
  #last: PageOrigin | undefined

  private constructor(path: string, file: FileHandle) {
    this.path = path
    this.#file = file
  }

  static async create(path: string): Promise<Part> {
    await mkdir(dirname(path), { recursive: true })
    return new Part(path, await open(path, 'w'))
  }

  /** Adds a page. `items` are the JSON texts of its rows, exactly as served. */
  async addPage(items: readonly string[], origin: PageOrigin): Promise<void> {
    const tail = tailOf(origin)
    const lines: string[] = []
    for (const [ordinal, item] of items.entries()) {
      const line = `{"item":${JSON.stringify(item)},"ordinal":${ordinal}${tail}`
      this.#longestLine = Math.max(this.#longestLine, line.length)
      this.#digest.add(item)
      lines.push(line)
    }
    this.#last = origin
    if (lines.length > 0) await this.#file.appendFile(lines.join(''))
  }

  /** Ends the writing. @throws RangeError when no page was added. */
  async close(): Promise<PartContent> {
    await this.#file.close()
    if (this.#last === undefined) throw new RangeError(`${this.path}: a part without a page`)
    return {
      path: this.path,
      rows: this.#digest.rows,
      longestLine: this.#longestLine * MAX_BYTES_PER_CHAR,
      digest: this.#digest.value(),
      last: this.#last,
    }
  }

  async discard(): Promise<void> {
    await this.#file.close()
    await rm(this.path, { force: true })
  }
}

/** UTF-8 bytes that one UTF-16 unit of a string takes, at most. */
const MAX_BYTES_PER_CHAR = 3

function tailOf(origin: PageOrigin): string {
  const { page, fetchedAt, request, requestId, runId } = origin
  const fields = {
    page,
    fetched_at: new Date(fetchedAt).toISOString(),
    request,
    request_id: requestId,
    run_id: runId,
  }
  return `,${JSON.stringify(fields).slice(1)}\n`
}
