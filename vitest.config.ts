import { defineConfig } from "vitest/config"
import { LongestFirst } from "./scripts/test/longest-first.ts"

const all = { testTimeout: 120_000, hookTimeout: 120_000 }

export default defineConfig({
  test: {
    // Other suites run beside these: more processes would only take turns on two cores.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...all,
          name: "server",
          include: ["server/src/**/*.test.ts", "server/test/**/*.test.ts"],
          globalSetup: ["server/test/support/catalog-template.ts"],
          setupFiles: process.env["HEDDLE_REACHED_STATEMENTS"] ? ["server/test/support/reached-statements.ts"] : [],
          // The embedded trace store holds one data folder per process.
          pool: "forks",
          execArgv: [
            // There are more processes than cores: threads that collect garbage beside them would only take turns with them.
            "--single-threaded-gc",
            // Each PGlite has 128 MB of memory outside V8's heap. Counted apart, every one that a test opens has all of the
            // heap collected, an eighth of the time that the app takes to open and close.
            "--external-memory-accounted-in-global-limit",
          ],
          // The same processes run all files: loading the server and its stores anew takes longer than most files do. So a
          // test file puts back what it changes outside of itself: spies, clocks, settings.
          isolate: false,
        },
      },
      // They replace modules.
      { test: { ...all, name: "scripts", include: ["scripts/**/*.test.mjs"] } },
    ],
  },
})
