import { examine } from '../doctor/examine.ts'
import { exitCodeOf, type Finding } from '../doctor/finding.ts'
import { dataOptions, jsonOption, type Command, type OptionsOf } from './command.ts'
import { addressing } from '../observe/words.ts'
import { announce } from './announce.ts'
import { configured } from './configured.ts'
import { createWorld } from './world.ts'
import type { Argv } from 'yargs'

const options = (yargs: Argv) =>
  jsonOption(dataOptions(yargs)).option('all', {
    type: 'boolean',
    default: false,
    describe: 'read every file of the lake and prove it',
  })

export const doctorCommand: Command<OptionsOf<typeof options>> = {
  examples: [
    ['$0 doctor', 'before the first run, or after a bad night'],
    ['$0 doctor --all --json', 'for a monitor: every file of the lake is proven'],
  ],
  options,
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
      terminal.out(
        flags.json ? `${JSON.stringify(findings.map(asJson), null, 2)}\n` : text(findings),
      )
      return exitCodeOf(findings)
    } finally {
      await close()
    }
  },
}

function asJson({ check, state, message, hint, exitCode }: Finding): object {
  return { check, state, message, hint, exit_code: exitCode }
}

function text(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.map(({ check, state, message, hint }) =>
    `${state.padEnd(8)} ${check.padEnd(width)}  ${message}${hint === null ? '' : `. ${hint}`}`.replaceAll(
      /\s*\n\s*/g,
      ' ',
    ),
  )
  return `${lines.join('\n')}\n`
}
