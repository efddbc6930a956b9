import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["**/*.test.ts"],
    globalSetup: "./started-server.ts",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Files run one after the other, because one server and one engine serve them all.
    fileParallelism: false,
  },
})
