export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

export interface Fault {
  readonly kind: string
  readonly answer: Answer
  failed: number
}

/** What goes wrong with a page, in words. */
export const KINDS: Readonly<Record<string, string>>
/** Faults by path, for responses by path in the order in which a day is paginated. */
export function planFaults(answers: ReadonlyMap<string, Answer>): Map<string, Fault>
