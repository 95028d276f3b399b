import { defineConfig } from 'vitest/config'

/** `make test-spark`: builds on a Spark cluster, which it installs outside the checkout. */
export default defineConfig({
  test: {
    include: ['test/spark/*.spark.ts'],
    globalSetup: ['test/support/build-once.ts', 'test/spark/install.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 300_000,
    pool: 'forks',
    maxWorkers: 1,
  },
})
