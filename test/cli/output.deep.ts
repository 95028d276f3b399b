import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { packageRoot } from '../../src/lib/package.ts'
import type { Outcome } from '../support/command.ts'
import { published } from './published-stage.ts'
import { helpOf, registered } from './registry.ts'

/** Not on a full five minutes, when computers are measured. */
const NOW = Date.parse('2026-02-03T05:02:00Z')
const DAY = 86_400_000

it('docs/output.md shows what the commands print: `npm run docs:output` writes it', async () => {
  process.umask(0o022) // the usual one: doctor reports what others can read
  const began = performance.now()
  const clock = { begins: NOW }
  const now = (): number => Math.round(clock.begins + performance.now() - began)
  let isDown = false
  const stage = await published({
    users: 8,
    now: () => clock.begins,
    intercept: ({ path }) =>
      isDown && path.endsWith('/analytics/tools') ? new Response('{}', { status: 400 }) : undefined,
  })
  onTestFinished(stage.close)
  const { data } = stage
  const shown = ({ code, out, err }: Outcome): string => {
    const text = `${err}${out}`
      .replaceAll(data, '/srv/data')
      .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080')
      .replace(/\d{8}T\d{6}Z-[0-9a-f]{6}/g, '20260203T050000Z-5f3a1c')
      .replace(/req_[0-9a-f]{8}/g, 'req_0000002a')
      .replace(/\b\d+(\.\d)? ?m?s\b/g, '1.0s')
      .replace(/\b\d+(\.\d+)? [kM]B\b/g, '12 MB')
      .replace(/\b\d+(\.\d+)? GB\b/g, '40 GB')
      .replace(/^(?<name>ok +node +).*$/m, '$<name>22.12.0')
      .replace(/^(?<name>ok +threads +).*$/m, '$<name>2 (the machine): landing 2, build 2, query 2')
      .replace(
        /^(?<name>ok +memory +).*$/m,
        '$<name>20 GB for databases (80 % of the machine): base 256MB, landing 512MB, build 1024MB, query 20000MB',
      )
      .replace(
        /at most [\d.]+ \w+, half of the free space/,
        'at most 40 GB, half of the free space',
      )
      .replace(/and \d+ more\./, 'and 600 more.')
      .replace(/\b\d+ base files\b/g, '30 base files') // some are written twice, as responses arrive
    return `${text.trimEnd()}\n\n→ exit code ${code}`
  }
  const run = (...args: string[]): Promise<Outcome> =>
    stage.go([...args, '--log', 'none', '--concurrency', '1'], { now })
  const sections: [title: string, text: string][] = []
  await rm(data, { recursive: true })
  sections.push(['A first night', shown(await run('run'))])
  clock.begins += DAY
  await run('run')
  sections.push(['An idle night', shown(await run('run'))])
  clock.begins += DAY
  isDown = true
  sections.push(['A partial night', shown(await run('run'))])
  isDown = false
  const wrongKey = { now, environment: { AGENT_API_KEY: 'wrong-key-0123456789' } }
  sections.push(['A refused key', shown(await stage.go(['run', '--log', 'none'], wrongKey))])
  await rm(join(data, 'state', 'warehouse.duckdb.json'))
  await writeFile(join(data, 'warehouse.duckdb.wal'), 'x')
  sections.push(['`doctor` with three faults', shown(await stage.go(['doctor'], wrongKey))])
  for (const { name } of await registered())
    sections.push([`\`${name} --help\``, (await helpOf(name.split(' '))).trimEnd()])
  const page = sections.map(([title, text]) => `## ${title}\n\n\`\`\`\n${text}\n\`\`\`\n`)
  await expect(
    `# What the commands print\n\nWritten by a test. Paths, times and sizes are examples.\n\n${page.join('\n')}`,
  ).toMatchFileSnapshot(join(packageRoot, 'docs', 'output.md'))
})
