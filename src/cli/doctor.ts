import { examine } from '../doctor/examine.ts'
import { exitCodeOf, type Finding } from '../doctor/finding.ts'
import type { RunEvent } from '../lib/events.ts'
import { grouped } from '../lib/grouped.ts'
import { longest } from '../lib/text.ts'
import { sparkVersion } from '../model/engines/spark.ts'
import { addressing } from '../observe/words.ts'
import { verifySeeds } from '../pipeline/seeds.ts'
import { configured, dataOptions, defineCommand, flag, jsonOption } from './command.ts'
import { configuredNames, organisationsOf, orgOption } from './options.ts'
import { createWorld, showingWarnings } from './world.ts'

export const doctorCommand = defineCommand({
  examples: {
    '$0 doctor': 'check before the first run, or after a failed night',
    '$0 doctor --all --json': 'verify every file of the lake and write JSON, for a monitor',
  },
  options: {
    ...dataOptions,
    ...orgOption,
    ...jsonOption,
    all: flag('also read and verify every file of the lake'),
  },
  run: async (flags, terminal) => {
    const showWarning = showingWarnings(terminal)
    const emit = (event: RunEvent): void => {
      if (event.type === 'organisation.addressed') terminal.err(`${addressing(event)}\n`)
      else showWarning(event)
    }
    const { world, close } = createWorld(emit, terminal)
    const findings = await examine({
      loadConfig: () => configured(flags, terminal),
      verifySeeds,
      sparkVersion,
      organisations: (config) => organisationsOf(flags, configuredNames(config)),
      world,
      nodeVersion: process.versions.node,
      isThorough: flags.all,
    }).finally(close)
    return {
      json: findings.map(({ exitCode, ...finding }) => ({ ...finding, exit_code: exitCode })),
      text: findingsText(findings),
      exitCode: exitCodeOf(findings),
    }
  },
})

/** At most this number of organisations without a problem are listed one by one. */
const IN_FULL = 5

function findingsText(findings: readonly Finding[]): string {
  const width = longest(findings.map(({ check }) => check))
  const fine = grouped(findings, ({ check, state }) => (state === 'ok' ? check : null))
  const shown = findings.flatMap((finding) => {
    const alike = fine.get(finding.check) ?? []
    if (finding.state !== 'ok' || alike.length <= IN_FULL) return finding
    return finding === alike[0] ? { ...finding, message: `${alike.length} organisations` } : []
  })
  const lines = shown.map(({ check, state, message, hint }) => {
    const line = `${state.padEnd(8)} ${check.padEnd(width)}  ${message}${hint === null ? '' : `. ${hint}`}`
    return `${line.replaceAll(/\s*\n\s*/g, ' ')}\n`
  })
  return lines.join('')
}
