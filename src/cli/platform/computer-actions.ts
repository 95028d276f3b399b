import { fieldOf, type PlatformClient } from '../../client/index.ts'
import { ExitCode } from '../../lib/errors.ts'
import { defineCommand } from '../command.ts'
import { computerArgument, computerOf, labelOf, ON_COMPUTERS } from './computers.ts'
import { changeOptions, mayChange, requireConsent } from './confirm.ts'
import type { Advice } from './failures.ts'
import { platformOptions, withPlatform, type Platform } from './platform.ts'
import { proseText, textOf, valueJson } from './render.ts'

/** Something that is done to one computer. */
interface Action {
  readonly examples: readonly [string, string][]
  /** What the person is asked to confirm. */
  readonly what: (computer: unknown) => string
  readonly ask: (client: PlatformClient, computerId: string) => Promise<unknown>
  /** What came of it, without secrets: fields for machines, a line for people. */
  readonly came: (answer: unknown, platform: Platform) => object
  readonly said: (label: string, came: object) => string
  readonly advice?: Advice
}

export const installDependencies = action({
  examples: [['$0 computers install-deps build-farm && $0 computers wait build-farm', 'and wait']],
  what: (computer) => `install the dependencies of ${labelOf(computer)} again`,
  ask: (client, id) => client.computers.installDependencies(id),
  came: (answer, { clean }) => ({
    computer: clean('computers', { text: JSON.stringify(answer) }).value,
  }),
  said: (label) =>
    `The dependencies of ${label} are being installed; agent-warehouse computers wait waits until that is done`,
  advice: {
    409: 'Wait for the install that is running: agent-warehouse computers wait <computer>',
  },
})

export const refreshComputer = action({
  examples: [['$0 computers refresh build-farm', 'git credentials and environment, set up again']],
  what: (computer) => `set up the credentials and the environment of ${labelOf(computer)} again`,
  ask: (client, id) => client.computers.refresh(id),
  came: (answer) => ({ configured: fieldOf(answer, 'configured') ?? null }),
  said: (label, came) =>
    `Of ${label} ${textOf(fieldOf(came, 'configured'))} integrations were configured`,
})

export const restartComputer = action({
  examples: [['$0 computers restart build-farm', 'a managed computer']],
  what: (computer) => `restart the computer ${labelOf(computer)}`,
  ask: (client, id) => client.computers.restart(id),
  came: () => ({ restarted: true }),
  said: (label) => `${label} restarts; agent-warehouse computers wait waits until it is back`,
})

export const deleteComputer = action({
  examples: [['$0 computers delete build-farm --dry-run', 'what would be sent']],
  what: (computer) => {
    const status = fieldOf(computer, 'status')
    const now = status === undefined ? '' : `, which is ${textOf(status)} now`
    return `delete the computer ${labelOf(computer)}${now}`
  },
  ask: (client, id) => client.computers.delete(id),
  came: () => ({ deleted: true }),
  said: (label) => `${label} is deleted`,
})

function action({ examples, what, ask, came, said, advice }: Action) {
  return defineCommand({
    examples,
    options: { ...platformOptions, ...changeOptions, ...computerArgument },
    run: async (flags, terminal) => {
      requireConsent(flags, terminal)
      const conversation = { advice: { ...ON_COMPUTERS, ...advice } }
      return withPlatform(flags, terminal, conversation, async (platform) => {
        const { value: computer } = await computerOf(platform, flags.computer)
        const id = textOf(fieldOf(computer, 'id'))
        const asks = [(client: PlatformClient) => ask(client, id)]
        const change = { what: what(computer), asks }
        if (!(await mayChange(platform, flags, terminal, change))) return ExitCode.complete
        const result = came(await ask(platform.client, id), platform)
        const name = fieldOf(computer, 'name') ?? null
        return flags.json
          ? valueJson({ computer_id: id, computer_name: name, ...result })
          : proseText(said(labelOf(computer), result))
      })
    },
  })
}
