import { examine } from '../doctor/examine.ts'
import { exitCodeOf, type Finding } from '../doctor/finding.ts'
import { configured, dataOptions, defineCommand, flag, jsonOf, jsonOption } from './command.ts'
import { addressing } from '../observe/words.ts'
import { announce, createWorld } from './world.ts'

export const doctorCommand = defineCommand({
  examples: [
    ['$0 doctor', 'before the first run, or after a bad night'],
    ['$0 doctor --all --json', 'for a monitor: every file of the lake is verified'],
  ],
  options: {
    ...dataOptions,
    ...jsonOption,
    all: flag('read every file of the lake and verify it'),
  },
  run: async (flags, terminal) => {
    const { world, close } = createWorld(() => undefined, terminal.environment)
    try {
      const findings = await examine({
        loadConfig: () => configured(flags, terminal),
        beforeAsking: (organisations) => {
          for (const each of organisations.filter(({ isFromFile }) => isFromFile)) {
            announce(each, (event) => {
              if (event.type === 'organisation.addressed') terminal.err(`${addressing(event)}\n`)
            })
          }
        },
        world,
        nodeVersion: process.versions.node,
        isThorough: flags.all,
      })
      terminal.out(flags.json ? jsonOf(findings.map(asJson)) : asText(findings))
      return exitCodeOf(findings)
    } finally {
      await close()
    }
  },
})

function asJson({ check, state, message, hint, exitCode }: Finding): object {
  return { check, state, message, hint, exit_code: exitCode }
}

function asText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.map(({ check, state, message, hint }) => {
    const line = `${state.padEnd(8)} ${check.padEnd(width)}  ${message}${hint === null ? '' : `. ${hint}`}`
    return `${line.replaceAll(/\s*\n\s*/g, ' ')}\n`
  })
  return lines.join('')
}
