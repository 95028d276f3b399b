import { readFileSync } from 'node:fs'
import ts from 'typescript'

/**
 * The titles of the tests of a file, each a pattern of its groups and itself, joined by ` › `.
 * A placeholder of a table in a title (`%s`, `${…}`) is a group of the pattern.
 */
export function titlesOf(path: string): readonly RegExp[] {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const titles: RegExp[] = []
  const visit = (node: ts.Node, groups: readonly string[]): void => {
    const [kind, title] = ts.isCallExpression(node) ? callOf(node) : []
    const names = title === undefined ? groups : [...groups, title]
    if (title !== undefined && kind !== 'describe')
      titles.push(new RegExp(`^${names.join(' › ')}$`))
    ts.forEachChild(node, (child) => {
      visit(child, kind === 'describe' ? names : groups)
    })
  }
  visit(file, [])
  return titles
}

const known = new Map<string, readonly RegExp[]>()

/** Whether a file has a test of a name; `made` are texts that its tables put into titles. */
export function hasTest(path: string, name: string, made: ReadonlySet<string>): boolean {
  const text = readFileSync(path, 'utf8')
  const titles = known.get(path) ?? titlesOf(path)
  known.set(path, titles)
  return titles.some((title) => {
    const [, ...parts] = title.exec(name) ?? [name, undefined]
    return parts.every(
      (part: string | undefined) =>
        part !== undefined && (made.has(part) || text.includes(part.replace(/^"(.*)"$/, '$1'))),
    )
  })
}

/** `it('…')`, `describe.each(…)('…')`: the kind of call, and the pattern of its title. */
function callOf({ expression, arguments: [title] }: ts.CallExpression): [string?, string?] {
  let root: ts.Expression = expression
  while (!ts.isIdentifier(root)) {
    if (ts.isCallExpression(root) || ts.isPropertyAccessExpression(root)) root = root.expression
    else return []
  }
  if (!['it', 'test', 'describe'].includes(root.text) || title === undefined) return []
  if (ts.isStringLiteralLike(title)) {
    const parts = title.text.split(/%[sdifjo]|\$[a-z]\w*/)
    return [root.text, parts.map(escaped).join('(.*)')]
  }
  if (!ts.isTemplateExpression(title)) return []
  const { head, templateSpans } = title
  return [
    root.text,
    [head, ...templateSpans.map(({ literal }) => literal)]
      .map(({ text }) => escaped(text))
      .join('(.*)'),
  ]
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
