import { describe, expect, it } from 'vitest'
import {
  beyond,
  boundsOf,
  verdictOf,
  withRun,
  worseBy,
  worsened,
  type Figure,
  type Machine,
  type Run,
} from '../../bench/figures.mjs'

const machine: Machine = { cpu: 'x', cores: 2, platform: 'linux-x64' }
const figure = (value: number, target: Partial<Figure>): Figure => ({
  name: 'f',
  value,
  unit: '×',
  ...target,
})
const runOf = (commit: string, value: number, on: Machine = machine): Run => ({
  commit,
  machine: on,
  benches: [{ name: 'land', figures: [figure(value, { most: 100 })] }],
})

it.each([
  ['equal to its minimum', figure(10, { least: 10 }), 'PASS'],
  ['below its minimum', figure(9.9, { least: 10 }), 'MISS'],
  ['equal to its maximum', figure(10, { most: 10 }), 'PASS'],
  ['above its maximum', figure(10.1, { most: 10 }), 'MISS'],
  ['without a target', figure(10, {}), ''],
])('a figure %s gets its verdict', (_, given, verdict) => {
  expect(verdictOf(given)).toBe(verdict)
})

it.each([
  ['higher, where lower is better,', figure(12, { most: 100 }), 10, 1.2],
  ['lower, where lower is better,', figure(8, { most: 100 }), 10, 1],
  ['lower, where higher is better,', figure(8, { least: 1 }), 10, 1.25],
  ['higher, where higher is better,', figure(12, { least: 1 }), 10, 1],
  ['higher, without a target,', figure(12, {}), 10, 1],
])('a figure that is %s is compared with the one before', (_, given, before, ratio) => {
  expect(worseBy(given, figure(before, {}))).toBeCloseTo(ratio)
})

describe('a bench run', () => {
  const benches = (value: number) => [{ name: 'land', figures: [figure(value, { most: 100 })] }]

  it('is compared with the last run on the same kind of machine', () => {
    const other = { ...machine, cores: 64 }
    const runs = [runOf('old', 5), runOf('last', 10), runOf('other', 1, other)]
    expect(worsened(benches(10.9), runs, machine)).toEqual([])
    expect(worsened(benches(11.1), runs, machine)).toMatchObject([
      { bench: 'land', commit: 'last', before: { value: 10 } },
    ])
  })

  it('is not compared with a run that left the bench out', () => {
    const runs = [runOf('last', 10), { ...runOf('without', 1), benches: [] }]
    expect(worsened(benches(20), runs, machine)).toMatchObject([{ commit: 'last', ratio: 2 }])
  })

  it('is stored with the nine runs before it on the same kind of machine', () => {
    let runs: readonly Run[] = [runOf('other', 1, { ...machine, cpu: 'y' })]
    for (let at = 0; at < 12; at += 1) runs = withRun(runs, runOf(`c${at}`, at))
    expect(runs.map(({ commit }) => commit)).toEqual([
      'other',
      ...Array.from({ length: 10 }, (_, at) => `c${at + 2}`),
    ])
  })
})

describe('the bound of a ratio to a hand-written pass', () => {
  const bounds = boundsOf([
    { base: 4, hooks: 0.5 },
    { base: 3.8, hooks: 0.3 },
    { base: 4.4, hooks: 0.4 },
  ])

  it('is 1.6 times the median', () => {
    expect(bounds).toEqual({ base: 6.4, hooks: 0.64 })
    expect(beyond([3.8, 4, 4.4], bounds['base'])).toBe(0)
    expect(beyond([7.6, 8, 8.8], bounds['base'])).toBe(3)
  })

  it('is required: a bench without one fails', () => {
    expect(beyond([1], bounds['landing'])).toBe(1)
  })
})
