import { defineConfig } from 'vitest/config'

/** `make test-kill`: a quarter of an hour of killing, apart from what `make test` runs. */
export default defineConfig({
  test: {
    include: ['test/kill/*.loop.ts'],
    globalSetup: ['test/support/build-once.ts'],
    testTimeout: 3_600_000,
    pool: 'forks',
    maxWorkers: 1,
  },
})
