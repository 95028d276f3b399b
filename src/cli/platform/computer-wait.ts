import { fieldOf } from '../../client/index.ts'
import { ExitCode } from '../../lib/errors.ts'
import { defineCommand } from '../command.ts'
import { computerArgument, computerOf, labelOf, ON_COMPUTERS } from './computers.ts'
import { platformOptions, withPlatform, type Clean } from './platform.ts'
import { poll, pollingOf, pollOptions, type Look } from './poll.ts'
import { itemJson, listAt, proseText, textOf } from './render.ts'

const INSTALL_STEP = 'install-deps'

/** The specification names `Running` alone; the others are guesses at further names. */
const RUNNING = /^(?:running|started|starting|in[-_ ]?progress)$/i
const WAITING = /^(?:pending|queued|waiting)$/i
const FAILED = /^(?:error|errored|failed|failure|cancell?ed|timed[-_ ]?out)$/i

export const waitForComputer = defineCommand({
  examples: [
    ['$0 computers wait build-farm', 'until it is active (0) or in error (1)'],
    ['$0 computers wait build-farm --timeout 5m --interval 10s', 'at most 5 minutes (4)'],
  ],
  options: { ...platformOptions, ...pollOptions('20m'), ...computerArgument },
  run: async (flags, terminal) => {
    const polling = pollingOf(flags)
    const conversation = { advice: ON_COMPUTERS, patienceMs: polling.patienceMs }
    return withPlatform(flags, terminal, conversation, async (platform) => {
      const found = await computerOf(platform, flags.computer)
      const id = textOf(fieldOf(found.value, 'id'))
      let first: Clean | undefined = found
      const { computer, exitCode } = await poll(platform, polling, async () => {
        const computer = first ?? (await computerOf(platform, id))
        first = undefined
        return lookAt(computer)
      })
      terminal.out(
        flags.json
          ? itemJson(computer.text)
          : proseText(`${labelOf(computer.value)} ${stateOf(computer.value)}`),
      )
      return exitCode
    })
  },
})

interface Waited {
  readonly computer: Clean
  readonly exitCode: ExitCode
}

/** It is over when the computer is active or in error, and no install is running. */
function lookAt(computer: Clean): Look<Waited> {
  const { value } = computer
  const state = `${labelOf(value)} ${stateOf(value)}`
  const status = fieldOf(value, 'status')
  const install = installOf(value)
  if (isIn(RUNNING, install)) return { state }
  if (status === 'error') {
    return { state, outcome: { computer, exitCode: ExitCode.unexpected } }
  }
  if (status !== 'active' || isIn(WAITING, install)) return { state }
  const exitCode = isIn(FAILED, install) ? ExitCode.unexpected : ExitCode.complete
  return { state, outcome: { computer, exitCode } }
}

function stateOf(computer: unknown): string {
  const status = textOf(fieldOf(computer, 'status') ?? 'in no known status')
  const steps = listAt(computer, 'provisioningSteps')
  const step = [FAILED, RUNNING].map((kind) => steps.find((each) => isIn(kind, each))).find(Boolean)
  if (step === undefined) return `is ${status}`
  const error = fieldOf(step, 'error')
  const why = error === undefined || error === null ? '' : `: ${textOf(error)}`
  return `is ${status}, ${textOf(fieldOf(step, 'id'))} ${textOf(fieldOf(step, 'status'))}${why}`
}

function installOf(computer: unknown): unknown {
  return listAt(computer, 'provisioningSteps').find((step) =>
    [fieldOf(step, 'id'), fieldOf(step, 'name')].includes(INSTALL_STEP),
  )
}

function isIn(kind: RegExp, step: unknown): boolean {
  return kind.test(textOf(fieldOf(step, 'status')))
}
