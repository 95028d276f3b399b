import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { UsageError } from '../errors.ts'
import { createWhole, readIfThere } from '../files.ts'
import { isJson, stringEnd } from '../json.ts'
import { setting, type Environment } from '../trust.ts'
import { RULES, type Rule } from './redaction-rules.ts'
import { withoutAddressed, withoutKnownForms, withoutSecrets } from './secret-forms.ts'
import { isIdName, isSecretName, isSecretNumberName, type Mark } from './secret-names.ts'

/**
 * Removes the secrets from items before they are written (law 11). A secret is replaced by
 * `[redacted:<8 hex>]`, a digest with the data folder's key: equal secrets have equal markers, and
 * no one can guess the secret without the key. All other bytes of the item stay as served.
 */
export class Redaction {
  readonly #mark: Mark

  constructor(key: string) {
    this.#mark = (secret) =>
      `[redacted:${createHmac('sha256', key).update(secret).digest('hex').slice(0, 8)}]`
  }

  /**
   * Redacts an item of a resource, a JSON text, by RULES.
   *
   * @throws SyntaxError, which quotes nothing, if the item is not JSON.
   */
  item(resource: string, item: string): string {
    const isClosed = resource === 'enterprise_controls'
    return redacted(item, { ...OPEN, rule: ruleOf(RULES, resource), isClosed }, this.#mark)
  }

  /** Free text, without what looks like a secret. */
  text(text: string): string {
    return withoutSecrets(text, this.#mark)
  }
}

/**
 * The redaction of a data folder. Without the argument `key`, the folder's own key is used
 * and made if necessary: `<data>/state/redaction.key`.
 */
export async function openRedaction(
  dataFolder: string,
  key: string | null = null,
): Promise<Redaction> {
  if (key !== null) return new Redaction(key)
  const path = keyPath(dataFolder)
  if ((await readIfThere(path)) === undefined) {
    // if several processes do this at once, one makes the key and all read it
    await createWhole(path, `${randomBytes(32).toString('hex')}\n`, 0o600)
  }
  return redactionOf(path, (await readIfThere(path)) ?? '')
}

/** Whether there is a key. @throws UsageError for a damaged one. */
export async function hasRedactionKey(dataFolder: string): Promise<boolean> {
  const path = keyPath(dataFolder)
  const text = await readIfThere(path)
  if (text === undefined) return false
  redactionOf(path, text)
  return true
}

function keyPath(dataFolder: string): string {
  return join(dataFolder, 'state', 'redaction.key')
}

function redactionOf(path: string, text: string): Redaction {
  if (/^[0-9a-f]{64}\n$/.test(text)) return new Redaction(text.trim())
  throw new UsageError(`${path} is not the original key`, {
    hint: 'Restore it from a backup, or delete it: every redacted value then counts as changed once.',
  })
}

const OPEN = {
  /** Undefined if the place is not documented. */
  rule: undefined as Rule | undefined,
  /** Whether strings and numbers at undocumented places are secrets. */
  isClosed: false,
  /** Below a name for secrets. */
  isSecret: false,
  /** The same for numbers, which may be counts under such a name. */
  isSecretNumber: false,
  /** Below a name for ids. */
  isId: false,
}

type Place = Readonly<typeof OPEN>

/**
 * The JSON text without the secrets in its strings, numbers and names. All other bytes
 * stay: spellings, order, white space, repeated names.
 */
function redacted(text: string, root: Place, mark: Mark): string {
  if (!isJson(text)) throw new SyntaxError(`it is not valid JSON (${text.length} characters)`)
  const tokens = /["{}[\],]|-?\d[-+.\deE]*/g
  const pieces: string[] = []
  const open: { readonly place: Place; readonly isArray: boolean }[] = []
  let copied = 0
  let place = root
  let isName = false
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const at = found.index
    const character = text.charAt(at)
    if (character === '"') tokens.lastIndex = stringEnd(text, at + 1)
    const token = text.slice(at, tokens.lastIndex)
    const container = open.at(-1)
    let clean: string | undefined
    if (character === '"') {
      const value = String(JSON.parse(token))
      const redacted =
        isName && container ? nameIn(container.place, value, mark) : stringAt(place, value, mark)
      if (redacted !== value) clean = redacted
      if (isName && container) place = fieldOf(container.place, value)
      isName = false
    } else if (character === '{' || character === '[') {
      isName = character === '{'
      open.push({ place, isArray: !isName })
      if (!isName) place = elementOf(place)
    } else if (character === '}' || character === ']') {
      isName = false
      open.pop()
    } else if (character === ',') {
      isName = container?.isArray === false
      if (container?.isArray === true) place = elementOf(container.place)
    } else if (/[-\d]/.test(character) && isSecretNumber(place)) clean = mark(token)
    if (clean === undefined) continue
    pieces.push(text.slice(copied, at), JSON.stringify(clean))
    copied = at + token.length
  }
  return pieces.join('') + text.slice(copied)
}

/** The rule of a field, or (name null) of the elements of an array. */
function ruleOf(rule: Rule | undefined, name: string | null): Rule | undefined {
  if (typeof rule !== 'object' || isElements(rule) !== (name === null)) return undefined
  if (isElements(rule)) return rule[0]
  return name !== null && Object.hasOwn(rule, name) ? rule[name] : rule['*']
}

function isElements(rule: Rule): rule is readonly Rule[] {
  return Array.isArray(rule)
}

function nameIn({ rule, isClosed }: Place, name: string, mark: Mark): string {
  const isMap = ruleOf(rule, '*') !== undefined
  if (!isMap && ruleOf(rule, name) !== undefined) return name
  return isClosed && !isMap ? withoutSecrets(name, mark) : withoutKnownForms(name, mark)
}

function elementOf(place: Place): Place {
  return { ...place, rule: ruleOf(place.rule, null) }
}

/** A documented place follows its rule, whatever the names above it. */
function fieldOf(place: Place, name: string): Place {
  const { isClosed } = place
  const rule = ruleOf(place.rule, name)
  if (rule !== undefined) return { ...OPEN, rule, isClosed }
  const kind = kindOf(name)
  return {
    rule,
    isClosed,
    isSecret: place.isSecret || kind.isSecret,
    isSecretNumber: place.isSecretNumber || kind.isSecretNumber,
    isId: kind.isId,
  }
}

type KindOfName = Pick<Place, 'isSecret' | 'isSecretNumber' | 'isId'>

/** The kinds of the names so far: items repeat the names of their resource. */
const kinds = new Map<string, KindOfName>()
const MOST_KINDS = 10_000

function kindOf(name: string): KindOfName {
  const known = kinds.get(name)
  if (known !== undefined) return known
  const kind = {
    isSecret: isSecretName(name),
    isSecretNumber: isSecretNumberName(name),
    isId: isIdName(name),
  }
  // names are data: they are neither kept without bound nor if they are long
  if (kinds.size < MOST_KINDS && name.length <= 100) kinds.set(name, kind)
  return kind
}

/** A value of an enum, documented or newer. */
const WORD = /^[A-Za-z][\w.-]{0,39}$/

function stringAt(place: Place, value: string, mark: Mark): string {
  if (value === '' || MARKED.test(value)) return value
  switch (typeof place.rule === 'string' ? place.rule : undefined) {
    case 'word':
      return WORD.test(value) && withoutSecrets(value, mark) === value ? value : mark(value)
    case 'id':
      return withoutAddressed(value, mark)
    case 'text':
      return withoutSecrets(value, mark)
    case 'number':
    case undefined:
      if (place.isClosed || place.isSecret) return mark(value)
      return place.isId ? withoutAddressed(value, mark) : withoutSecrets(value, mark)
  }
}

function isSecretNumber({ rule, isClosed, isSecretNumber: isSecret }: Place): boolean {
  return isSecret || (isClosed && rule === undefined)
}

const MARKED = /^\[redacted:[0-9a-f]{8}\]$/

/** Holds the redaction key if it is kept outside of the data folder. */
const REDACTION_KEY_VARIABLE = 'AGENT_WAREHOUSE_REDACTION_KEY'

/** Null if the variable is not set. @throws UsageError for a key that could be guessed. */
export function redactionKeyIn(environment: Environment): string | null {
  const key = setting(environment, REDACTION_KEY_VARIABLE)
  if (key === undefined) return null
  if (key.length >= 32) return key
  throw new UsageError(`${REDACTION_KEY_VARIABLE} has fewer than 32 characters`, {
    hint: 'Make one with: openssl rand -hex 32. To keep the existing markers, use the content of state/redaction.key.',
  })
}
