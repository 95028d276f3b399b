import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './root.ts'

/** The package's version. */
export const version: string = readVersion()

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return isManifest ? String(manifest.version) : 'unknown'
}
