import { defineConfig } from 'vitest/config'

/** `make test-deep`: what takes minutes, apart from what `make test` runs. */
export default defineConfig({
  test: {
    include: ['test/**/*.deep.ts'],
    globalSetup: ['test/support/build-once.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    maxWorkers: 3,
  },
})
