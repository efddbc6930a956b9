import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["web/browser/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
