/** One field of a CSV text, quoted or not, and what ends it. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g

/** The records of a CSV text (RFC 4180) without its empty lines. */
export function recordsOf(text: string): string[][] {
  const records: string[][] = []
  let isOpen = false
  for (const [, quoted, bare = '', end] of text.matchAll(FIELD)) {
    const field = quoted?.replaceAll('""', '"') ?? bare
    if (isOpen) records.at(-1)?.push(field)
    else records.push([field])
    isOpen = end === ','
  }
  return records.filter((record) => record.length > 1 || record[0] !== '')
}
