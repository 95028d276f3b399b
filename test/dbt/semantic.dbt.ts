import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/lib/package.ts'
import { project } from '../model/alone.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { python } from './python.ts'

interface SemanticManifest {
  readonly semantic_models: readonly { readonly name: string }[]
  readonly metrics: readonly { readonly name: string; readonly type: string }[]
}

it('dbt reads the metrics as MetricFlow metrics when `semantic` is among the model paths', async () => {
  const folder = await temporaryFolder()
  const copy = join(folder, 'project')
  await cp(join(packageRoot, 'dbt-like-models'), copy, { recursive: true })
  const file = join(copy, 'dbt_project.yml')
  const text = await readFile(file, 'utf8')
  expect(text).toContain('model-paths: [models]')
  await writeFile(file, text.replace('model-paths: [models]', 'model-paths: [models, semantic]'))

  const target = join(folder, 'target')
  const folders = ['--project-dir', copy, '--profiles-dir', copy, '--target-path', target]
  await python(
    'requirements.txt',
    ['-m', 'dbt.cli.main', '--log-path', target, '--no-use-colors', 'parse', ...folders],
    { AGENT_WAREHOUSE_DATA: folder, DO_NOT_TRACK: '1', HOME: folder },
  )
  const read = await readFile(join(target, 'semantic_manifest.json'), 'utf8')
  const manifest = JSON.parse(read) as SemanticManifest
  expect(manifest.metrics.map(({ name, type }) => [name, type]).sort()).toEqual(
    project.metrics.map(({ name, type }) => [name, type === 'ratio' ? 'ratio' : 'simple']).sort(),
  )
  expect(manifest.semantic_models.length).toBeGreaterThan(5)
})
