import { hash } from 'node:crypto'

/** A number in [0, 1) that depends on nothing but its arguments. */
export function chanceOf(seed: number, ...about: readonly (string | number)[]): number {
  const digest = hash('sha256', JSON.stringify([seed, ...about]), 'hex')
  return Number.parseInt(digest.slice(0, 12), 16) / 2 ** 48
}
