import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: import.meta.dirname,
    // The same processes run all files, since loading a module takes longer than its tests: a file puts back what it changes.
    isolate: false,
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
  },
})
