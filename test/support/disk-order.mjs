// import { recorded } from '…/test/support/disk-order.mjs' // before every module of the program
//
// Records in which order this process renames, appends to and syncs files. A sync counts when it is
// complete. For a process of its own: the functions of node:fs stay replaced.
import fs from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'

/** A file keeps its number when it is renamed. */
const events = []

const { fsync, fsyncSync, renameSync, appendFileSync } = fs

fs.fsync = (file, done) => {
  const { ino } = fs.fstatSync(file)
  fsync(file, (error) => {
    events.push(['sync', ino])
    done(error)
  })
}
fs.fsyncSync = (file) => {
  fsyncSync(file)
  events.push(['sync', fs.fstatSync(file).ino])
}
fs.renameSync = (from, to) => {
  renameSync(from, to)
  events.push(['rename', fs.statSync(to).ino])
}
fs.appendFileSync = (path, ...rest) => {
  appendFileSync(path, ...rest)
  events.push(['append', fs.statSync(path).ino])
}
syncBuiltinESMExports()

// as of `writeFile` with `flush`
const self = await open(fileURLToPath(import.meta.url))
const handles = Object.getPrototypeOf(self)
await self.close()
const { sync } = handles
handles.sync = async function () {
  const { ino } = fs.fstatSync(this.fd)
  await sync.call(this)
  events.push(['sync', ino])
}

/** What was done until now, with the paths in the folder that the files have now. */
export function recorded(folder) {
  const entries = fs.readdirSync(folder, { recursive: true })
  const paths = entries.map((path) => path.replaceAll('\\', '/'))
  const pathOf = new Map(paths.map((path) => [fs.statSync(`${folder}/${path}`).ino, path]))
  return events.flatMap(([what, ino]) => (pathOf.has(ino) ? [`${what} ${pathOf.get(ino)}`] : []))
}
