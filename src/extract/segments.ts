import { createReadStream } from 'node:fs'
import { open, rm, stat, type FileHandle } from 'node:fs/promises'
import { asidePath } from '../store/files.ts'

/** DuckDB reads a file of lines through a buffer of 32 MB, of which it fills what the file has. */
const SEGMENT_BYTES = 4 * 1024 * 1024
const NEWLINE = 10

/**
 * Runs `work` with the lines of a file; those of a long one in files of a few
 * megabytes, so that reading them takes little memory. They are gone afterwards.
 */
export async function withSegments<T>(
  path: string,
  work: (paths: readonly string[]) => Promise<T>,
): Promise<T> {
  if ((await stat(path)).size <= SEGMENT_BYTES) return work([path])
  const paths: string[] = []
  try {
    await split(path, paths)
    return await work(paths)
  } finally {
    for (const each of paths) await rm(each, { force: true })
  }
}

/** Cuts behind the last newline of a chunk, once a segment is long enough. */
async function split(path: string, paths: string[]): Promise<void> {
  let segment: FileHandle | undefined
  let bytes = 0
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      let rest = chunk
      const cut = chunk.lastIndexOf(NEWLINE) + 1
      if (segment !== undefined && bytes >= SEGMENT_BYTES && cut > 0) {
        await segment.appendFile(chunk.subarray(0, cut))
        await segment.close()
        segment = undefined
        rest = chunk.subarray(cut)
      }
      if (rest.byteLength === 0) continue
      segment ??= await next(path, paths)
      bytes = rest === chunk ? bytes + rest.byteLength : rest.byteLength
      await segment.appendFile(rest)
    }
  } finally {
    await segment?.close()
  }
}

async function next(path: string, paths: string[]): Promise<FileHandle> {
  const aside = asidePath(path)
  paths.push(aside)
  return open(aside, 'wx')
}
