import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../lib/files.ts'

/** Folder by folder: where the system refuses, Node 20's own recursion may never end (under /proc). */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    makeFolder(dirname(path))
    mkdirIfMissing(path)
  }
}

/** Another process may have made it meanwhile. */
function mkdirIfMissing(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}
