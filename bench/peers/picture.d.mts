import type { Comparison } from './table.mjs'

/** An SVG that follows the light or dark setting of the reader. */
export function pictureOf(result: Comparison): string
