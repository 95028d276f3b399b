import { join } from 'node:path'
import ts from 'typescript'
import { packageRoot } from '../../src/lib/package.ts'

/** Says whether the type of a field in the client's declarations is as specified. */
export type TypeLookup = (type: string, path: string, specified: string) => string

/** A file that exists only in memory: it gives each type expression a name. */
const FILE = join(packageRoot, 'src', 'specified-types.ts')

/**
 * Reads the declarations that `import … from 'agent-warehouse'` gives. The lookup returns
 * 'as specified', or what the declarations say instead.
 */
export function readTypes(expressions: readonly string[]): TypeLookup {
  const lines = expressions.map((each, index) => `export type T${index} = ${each}`)
  const names = 'PlatformClient, ' + expressions.filter((each) => /^\w+$/.test(each)).join(', ')
  const text = [`import type { ${names} } from './index.ts'`, ...lines].join('\n')
  const { config } = ts.readConfigFile(join(packageRoot, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  ) as {
    config: { compilerOptions: object }
  }
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, packageRoot)
  const host = ts.createCompilerHost(options)
  const read = host.getSourceFile.bind(host)
  host.getSourceFile = (name, version, ...rest) =>
    name === FILE ? ts.createSourceFile(name, text, version) : read(name, version, ...rest)
  const program = ts.createProgram([FILE], { ...options, noEmit: true }, host)
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(FILE)
  const wrong = program.getSemanticDiagnostics(file)
  if (file === undefined || wrong.length > 0) {
    throw new Error(
      wrong.map((each) => ts.flattenDiagnosticMessageText(each.messageText, ' ')).join(),
    )
  }
  const types = new Map<string, ts.Type>()
  for (const node of file.statements) {
    if (!ts.isTypeAliasDeclaration(node)) continue
    const expression = expressions[Number(node.name.text.slice(1))] ?? ''
    types.set(expression, checker.getTypeAtLocation(node.name))
  }
  return (expression, path, specified) => {
    const found = typeAt(checker, types.get(expression), path)
    if (found === undefined) return `no field '${path}'`
    return isAsSpecified(checker, found, specified) ? 'as specified' : checker.typeToString(found)
  }
}

function typeAt(
  checker: ts.TypeChecker,
  type: ts.Type | undefined,
  path: string,
): ts.Type | undefined {
  return path.split(/\.|(?=\[\])/).reduce<ts.Type | undefined>((from, step) => {
    const object = from === undefined ? undefined : checker.getNonNullableType(from)
    if (object === undefined) return undefined
    if (step === '[]') return checker.getIndexTypeOfType(object, ts.IndexKind.Number)
    const property = checker.getPropertyOfType(object, step)
    return property === undefined
      ? checker.getIndexTypeOfType(object, ts.IndexKind.String)
      : checker.getTypeOfSymbol(property)
  }, type)
}

const OBJECTS = ts.TypeFlags.Object | ts.TypeFlags.NonPrimitive

/** A string type that also names some values: `'text' | (string & …)`. */
const OPEN_STRING = ts.TypeFlags.StringLike | ts.TypeFlags.Intersection

const STRINGS = new Set(['string', 'date', 'date-time', 'uuid', 'uri'])

function isAsSpecified(checker: ts.TypeChecker, found: ts.Type, specified: string): boolean {
  const isNullable = checker.getNonNullableType(found) !== found && hasNull(found)
  if (/\bnull\b/.test(specified) && !isNullable) return false
  const [words = ''] = specified.split(/,? optional|,? as seen elsewhere| or null/)
  const parts = partsOf(checker.getNonNullableType(found))
  if (words.startsWith('enum ')) {
    const values = words.slice('enum '.length).split(', ')
    const literals = parts.flatMap((each) => (each.isStringLiteral() ? [each.value] : []))
    const named = values.filter((value) => value !== 'null')
    return (
      literals.sort().join() === named.sort().join() ||
      parts.every(({ flags }) => (flags & ts.TypeFlags.String) !== 0)
    )
  }
  if (words.startsWith('array of ')) {
    const elements = parts.map((each) => checker.getIndexTypeOfType(each, ts.IndexKind.Number))
    const of = words.slice('array of '.length)
    return elements.every((each) => each !== undefined && isAsSpecified(checker, each, of))
  }
  if (words === 'object') return parts.every(isObject)
  const flag = STRINGS.has(words)
    ? OPEN_STRING
    : words === 'boolean'
      ? ts.TypeFlags.BooleanLike
      : ts.TypeFlags.NumberLike
  return parts.every(({ flags }) => (flags & flag) !== 0)
}

/** Also an object with the fields of several types. */
function isObject(type: ts.Type): boolean {
  return type.isIntersection() ? type.types.every(isObject) : (type.flags & OBJECTS) !== 0
}

function partsOf(type: ts.Type): readonly ts.Type[] {
  return type.isUnion() ? type.types : [type]
}

function hasNull(type: ts.Type): boolean {
  return partsOf(type).some(({ flags }) => (flags & ts.TypeFlags.Null) !== 0)
}
