import { program } from '../../src/cli/program.ts'

export interface Registered {
  /** `computers list` */
  readonly name: string
  /** As `--help` lists them, without the dashes. */
  readonly options: readonly string[]
}

/** Every command and its options, as `--help` lists them. */
export async function registered(): Promise<Registered[]> {
  const names = await Promise.all(
    (await namesIn([])).map(async (name) => {
      const below = await namesIn([name])
      return below.length === 0 ? [name] : below.map((each) => `${name} ${each}`)
    }),
  )
  return Promise.all(
    names.flat().map(async (name) => ({ name, options: optionsIn(await helpOf(name.split(' '))) })),
  )
}

async function namesIn(path: readonly string[]): Promise<string[]> {
  const prefix = ['  agent-warehouse', ...path, ''].join(' ')
  const [, commands = ''] = /^Commands:\n(.*?)\n\n/ms.exec(await helpOf(path)) ?? []
  return commands.split('\n').flatMap((line) => {
    const [name] = line.startsWith(prefix) ? line.slice(prefix.length).split(' ') : []
    return name === undefined || name === '' ? [] : [name]
  })
}

function optionsIn(help: string): string[] {
  const [, options = ''] = /^Options:\n(.*?)\n\n/ms.exec(`${help}\n\n`) ?? []
  return [...options.matchAll(/^ {2,6}(?:-\w, )?--([a-z-]+)/gm)].map(([, name = '']) => name)
}

const nothing = (): void => undefined

const TERMINAL = {
  err: nothing,
  isTty: false,
  columns: () => 100,
  outWidth: undefined,
  hasColour: false,
  ask: null,
  environment: {},
  cwd: '/',
  now: () => 0,
}

export async function helpOf(path: readonly string[]): Promise<string> {
  let help = ''
  await program([...path, '--help'], { ...TERMINAL, out: (text) => (help += text) })
  return help
}

/** Every example of every command, as a reader of `--help` can copy it; `$0` is the program. */
export async function examples(): Promise<string[]> {
  const helps = await Promise.all((await registered()).map(({ name }) => helpOf(name.split(' '))))
  return helps.flatMap(examplesIn)
}

function examplesIn(help: string): string[] {
  const [, text = ''] = /^Examples:\n(.*)/ms.exec(help) ?? []
  const lines = text.split('\n').filter((line) => /^ {2}[^ #]/.test(line))
  return lines.map((line) => line.trim().replaceAll(/(?<![^ ])agent-warehouse(?= )/g, '$0'))
}
