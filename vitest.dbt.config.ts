import { defineConfig } from 'vitest/config'

/** `make test-dbt`: the same project under dbt Core, which it installs outside the checkout. */
export default defineConfig({
  test: {
    include: ['test/dbt/*.dbt.ts'],
    globalSetup: ['test/support/build-once.ts', 'test/dbt/install.ts'],
    testTimeout: 900_000,
    pool: 'forks',
    maxWorkers: 1,
  },
})
