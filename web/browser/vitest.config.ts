import { defineConfig } from "vitest/config"
import { LongestFirst } from "../../scripts/test/longest-first.ts"

export default defineConfig({
  test: {
    include: ["web/browser/**/*.test.ts"],
    // Each file has a server and a browser of its own, which wait for each other: two files share two cores well.
    maxWorkers: 2,
    // The same two processes run all files: a file keeps nothing outside of itself, and the libraries are loaded once.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
