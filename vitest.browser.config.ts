import { defineConfig } from 'vitest/config'

/** `make test-browser`: the report in headless Chromium, which it installs from Debian. */
export default defineConfig({
  test: {
    include: ['test/browser/*.browser.ts'],
    globalSetup: ['test/support/build-once.ts', 'test/browser/install.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    maxWorkers: 1,
  },
})
