// What the comparisons found, kept in result.json, from which README's tables and picture are made.
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { benchFolder, machineHere, root } from '../lib.mjs'
import { pictureOf } from './picture.mjs'
import { withTables } from './table.mjs'

const RESULT = join(benchFolder, 'peers', 'result.json')

/** Replaces one part of the result, `landing` or `building`. `packages`: names by the list that pins them. */
export async function keep(part, { packages, ...found }) {
  const at = new Date().toISOString()
  const versions = await versionsOf(packages)
  const before = JSON.parse(await readFile(RESULT, 'utf8'))
  const result = { ...before, [part]: { at, machine: machineHere(), versions, ...found } }
  await writeFile(RESULT, `${JSON.stringify(result, null, 2)}\n`)
  const readme = join(root, 'README.md')
  await writeFile(readme, withTables(await readFile(readme, 'utf8'), result))
  await writeFile(join(root, 'assets', 'peers.svg'), pictureOf(result))
}

async function versionsOf(packages) {
  const python = execFileSync('python3', ['--version'], { encoding: 'utf8' }).trim().split(' ')[1]
  const versions = { 'Node.js': process.versions.node, Python: python }
  for (const [list, names] of Object.entries(packages)) {
    const text = await readFile(join(root, list), 'utf8')
    for (const name of names) versions[name] = new RegExp(`^${name}==(.+)$`, 'm').exec(text)[1]
  }
  return versions
}
