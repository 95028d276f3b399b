/** The absolute paths in the registered command. */
export interface HookCommand {
  readonly node: string
  readonly script: string
  readonly dataFolder: string
  readonly config: string
}

type Platform = 'posix' | 'windows'

/** The command line for the agent's shell; paths are quoted if necessary. */
export function commandLine(command: HookCommand, platform: Platform): string {
  const { node, script, dataFolder, config } = command
  const words = [node, script, 'hooks', 'run', '--data', dataFolder, '--config', config]
  return words.map((word) => quoted(word, platform)).join(' ')
}

/**
 * Parses what `commandLine` wrote; undefined for any other command, including ours with
 * a change to more than a path.
 */
export function readCommandLine(line: string): HookCommand | undefined {
  const [node, script, hooks, run, dataFlag, dataFolder, configFlag, config, ...more] =
    wordsOf(line) ?? []
  const isOurs =
    script !== undefined &&
    /[\\/]main\.js$/.test(script) &&
    [hooks, run, dataFlag, configFlag, ...more].join(' ') === 'hooks run --data --config'
  if (!isOurs || node === undefined || dataFolder === undefined || config === undefined) {
    return undefined
  }
  return { node, script, dataFolder, config }
}

function quoted(word: string, platform: Platform): string {
  if (/^[\w@%+=:,./-]+$/.test(word) && platform === 'posix') return word
  // No path of Windows has a double quote.
  return platform === 'windows' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Bare and quoted words, joined as a shell does. */
const WORD = /\s*((?:'[^']*'|"[^"]*"|\\'|[^\s'"\\]|\\(?=\w))+)/y
const PIECE = /'([^']*)'|"([^"]*)"|\\(')|([^\s'"]+)/g

function wordsOf(line: string): string[] | undefined {
  const words: string[] = []
  const trimmed = line.trim()
  for (let at = 0; at < trimmed.length; at = WORD.lastIndex) {
    WORD.lastIndex = at
    const [, word] = WORD.exec(trimmed) ?? []
    if (word === undefined) return undefined
    const pieces = [...word.matchAll(PIECE)]
    words.push(
      pieces
        .map(([, single, double, quote, bare]) => single ?? double ?? quote ?? bare ?? '')
        .join(''),
    )
  }
  return words
}
