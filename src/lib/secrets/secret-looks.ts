/** What stands in the place of a secret. */
export type Mark = (secret: string) => string

/** Letters and digits in turns, or letters of both cases among digits; or longer than any word. */
export function isRandom(word: string): boolean {
  if (DIGEST.test(word)) return false
  if (word.length >= 40) return true
  const isOfAll = /\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word)
  return isOfAll || turnsOf(word) >= 3
}

/** Base64, in which a `/` is no end of a name: more turns than a path has. */
export function isMixed(run: string): boolean {
  return run.length >= 36 && /[+/]/.test(run) && turnsOf(run) + humpsOf(run) >= 8
}

/** A public key of SSH: it begins with the length and the name of its kind. */
export function isPublic(run: string): boolean {
  return /^AAAA(?:[A-Z]3NzaC1|E2VjZHNhLX|GnNr|Ips|InNr)/.test(run)
}

/** A commit, or the digest of a file or an image. */
const DIGEST = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

function turnsOf(text: string): number {
  let turns = 0
  for (let at = 1; at < text.length; at += 1) {
    const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)]
    if ((isLetter(before) && isDigit(after)) || (isDigit(before) && isLetter(after))) turns += 1
  }
  return turns
}

function humpsOf(text: string): number {
  let humps = 0
  for (let at = 1; at < text.length; at += 1) {
    if (isSmall(text.charCodeAt(at - 1)) && isCapital(text.charCodeAt(at))) humps += 1
  }
  return humps
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function isSmall(code: number): boolean {
  return code >= 97 && code <= 122
}

function isCapital(code: number): boolean {
  return code >= 65 && code <= 90
}

function isLetter(code: number): boolean {
  return isSmall(code) || isCapital(code)
}
