export interface Run {
  readonly at: string
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memoryGB: number }
  readonly versions: Readonly<Record<string, string>>
}

/** CPU and memory are those of all processes of a tool. */
export interface Cost {
  readonly name: string
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakBytes: number
}

/** Rows that a tool has at the end, and those of them that differ in user or day. */
export interface Landed {
  readonly requests: number
  readonly rows: number
  readonly distinct: number
}

export interface Comparison {
  readonly landing: Run & {
    /** Rows that the platform serves. */
    readonly served: number
    readonly tools: readonly (Cost & Landed)[]
    readonly kinds: readonly string[]
    readonly faults: readonly (Landed & {
      readonly name: string
      readonly runs: number
      readonly isComplete: boolean
      readonly refused: number
    })[]
  }
  readonly building: Run & {
    readonly rows: number
    readonly tools: readonly (Cost & { readonly checks: number })[]
  }
}

/** README with the tables of that comparison between its two markers. @throws where it lacks one. */
export function withTables(readme: string, result: Comparison): string
