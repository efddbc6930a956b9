import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["**/*.test.ts"],
    globalSetup: "./started-server.ts",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One server and one engine serve all files: side by side they would only share its cores.
    fileParallelism: false,
  },
})
