export interface Tool {
  readonly name: string
  readonly seconds: number
  /** Of all its processes, as `peakBytes`. */
  readonly cpuSeconds: number
  readonly peakBytes: number
  readonly requests: number
  /** Rows that it holds at the end, and those of them that differ in user or day. */
  readonly rows: number
  readonly distinct: number
}

export interface Comparison {
  readonly at: string
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memoryGB: number }
  readonly versions: Readonly<Record<string, string>>
  readonly command: string
  /** Rows that the platform serves. */
  readonly served: number
  readonly tools: readonly Tool[]
}

/** README with the table of that comparison between its two markers. @throws where it lacks one. */
export function withTable(readme: string, result: Comparison): string
