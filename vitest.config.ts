import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    globalSetup: ["server/test/support/catalog-template.ts"],
    include: ["server/src/**/*.test.ts", "server/test/**/*.test.ts", "scripts/**/*.test.mjs"],
    // The embedded trace store holds one data folder per process.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
