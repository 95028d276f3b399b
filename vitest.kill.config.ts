import { defineConfig } from 'vitest/config'

/** `make test-kill`: minutes of killing, apart from what `make test` runs. */
export default defineConfig({
  test: {
    include: ['test/kill/*.loop.ts'],
    globalSetup: ['test/build-once.ts'],
    testTimeout: 900_000,
    pool: 'forks',
    maxWorkers: 1,
  },
})
