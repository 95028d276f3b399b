export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly least?: number
  readonly most?: number
}

export interface Bench {
  readonly name: string
  readonly figures: readonly Figure[]
}

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly platform: string
}

export interface Run {
  readonly commit: string
  readonly machine: Machine
  readonly benches: readonly Bench[]
}

export function verdictOf(figure: Figure): '' | 'PASS' | 'MISS'
export function worseBy(figure: Figure, before: Figure | undefined): number
export function worsened(
  benches: readonly Bench[],
  runs: readonly Run[],
  machine: Machine,
): readonly {
  readonly bench: string
  readonly figure: Figure
  readonly commit: string
  readonly before: Figure
  readonly ratio: number
}[]
export function withRun(runs: readonly Run[], run: Run): readonly Run[]

/** Ratios of CPU time by bench. */
export type Ratios = Readonly<Record<string, number>>
export function boundsOf(runs: readonly Ratios[]): Ratios
export function beyond(ratios: readonly number[], bound: number | undefined): number
export function median(values: readonly number[]): number
