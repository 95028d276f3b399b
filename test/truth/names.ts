/** A tool name as tools are really called: the whole name, nothing around it. */
const CLEAN_TOOL_NAME = /^[\p{L}_][\p{L}\p{N}_.:/@-]{0,127}$/u
const LEADING_TOOL_NAME = /^[\p{L}_][\p{L}\p{N}_.:/@-]{0,127}/u
const LEADING_MARKUP = /^(?:[\p{White_Space}"'`‘’“”«»]+|<[^<>]*>|<)/u
const OUTER_SPACE = /^\p{White_Space}+|\p{White_Space}+$/gu

export const UNPARSED = '(unparsed)'
export const UNATTRIBUTED = '(unattributed)'

/** Without Unicode white space at both ends. */
function trimmed(name: string): string {
  return name.replace(OUTER_SPACE, '')
}

/** The canonical name of an MCP server: NFC, trimmed, case-folded. */
export function canonicalServer(spelling: string): string {
  return caseFolded(trimmed(spelling.normalize('NFC')))
}

/**
 * Unicode full case folding (CaseFolding.txt, statuses C and F), code point by
 * code point, so that no rule looks at the neighbours (as the final sigma does).
 */
export function caseFolded(name: string): string {
  return Array.from(name, foldedCodePoint).join('')
}

/** The clean names among tool names as served: what an artifact may be the remains of. */
export function cleanToolNames(names: Iterable<string>): ReadonlySet<string> {
  return new Set([...names].map(trimmed).filter((name) => CLEAN_TOOL_NAME.test(name)))
}

/**
 * A tool name without parsing artifacts: itself when clean, else the name it
 * begins with where `known` has that name, else `(unparsed)`.
 */
export function cleanedToolName(served: string, known: ReadonlySet<string>): string {
  const name = trimmed(served)
  if (CLEAN_TOOL_NAME.test(name)) return name
  const leading = LEADING_TOOL_NAME.exec(withoutMarkup(name))?.[0]
  return leading !== undefined && known.has(leading) ? leading : UNPARSED
}

function withoutMarkup(name: string): string {
  const rest = name.replace(LEADING_MARKUP, '')
  return rest === name ? name : withoutMarkup(rest)
}

function foldedCodePoint(char: string): string {
  if (char === 'ı') return char
  if (/\p{Script=Cherokee}/u.test(char)) return char.toUpperCase()
  // Twice, because the capital sharp s becomes the small one before it becomes `ss`.
  return upperThenLower(upperThenLower(char))
}

function upperThenLower(name: string): string {
  const upper = Array.from(name, (char) => char.toUpperCase()).join('')
  return Array.from(upper, (char) => char.toLowerCase()).join('')
}
