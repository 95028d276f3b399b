import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

/** `make test-deep`: what takes minutes, apart from what `make test` runs. */
export default defineConfig({
  test: {
    include: ['test/**/*.deep.ts'],
    globalSetup: ['test/support/build-once.ts'],
    setupFiles: ['test/support/each-file.ts'],
    isolate: false,
    sequence: { sequencer: LongestFirst },
    env: { AGENT_WAREHOUSE_THREADS: '1' },
    // the longest takes three minutes alone, and three times as long on a busy machine
    testTimeout: 900_000,
    hookTimeout: 900_000,
    pool: 'forks',
    maxWorkers: 3,
  },
})
