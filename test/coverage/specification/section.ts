/** The fields of one kind of object of the specification (PLATFORM_API, "Resources and their fields"). */
export interface Section {
  readonly heading: string
  /** The titles of its tests begin with it. */
  readonly name: string
  /** The client's type; null for settings, which the specification wants read as generic JSON. */
  readonly type: string | null
  /** The raw resource that holds it; null for a response that the warehouse does not store. */
  readonly resource: string | null
  readonly sample: unknown
  /**
   * A line per field: `path | type as specified | place`. In a path `[]` is an element and
   * `*` any key. A place is where the value is found in the warehouse:
   * `table.column`, with `[column=value]` the rows that count;
   * `table.column#size` the number of its elements or characters, `#keys` the first steps of
   * paths, and `table#rows` a row for each element;
   * `setting` its path in `dim_control_current`;
   * `raw` only in the lake, as served; `mark` there too, as the marker of a secret; `client` nowhere in the warehouse.
   */
  readonly rows: string
}

export interface Field {
  readonly path: string
  readonly type: string
  readonly place: string
  /** The title of its test. */
  readonly title: string
}

export function fieldsOf({ name, rows }: Section): Field[] {
  return rows
    .trim()
    .split('\n')
    .map((line) => {
      const [path = '', type = '', place = ''] = line.split(' | ').map((cell) => cell.trim())
      const reached = place === 'client' ? 'the client' : `the client and ${placeWords(place)}`
      return { path, type, place, title: `${name}/${path} reaches ${reached}` }
    })
}

function placeWords(place: string): string {
  if (place === 'raw') return 'the lake as served'
  if (place === 'setting') return 'its setting of dim_control_current'
  return place.replace(/[[#].*/, '')
}

/** The values at a path, `[]` and `*` being every element and every key. */
export function valuesAt(value: unknown, path: string): unknown[] {
  const steps = path.split(/\.|(?=\[\])/)
  return steps.reduce<unknown[]>(
    (values, step) => values.flatMap((each) => childrenOf(each, step)),
    [value],
  )
}

function childrenOf(value: unknown, step: string): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (step === '[]' || step === '*') return Object.values(value)
  const found = Object.entries(value).find(([key]) => key === step)
  return found === undefined ? [] : [found[1]]
}
