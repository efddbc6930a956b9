import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, test, vi } from "vitest"
import { checkNode, npmCache } from "./node-modules.mjs"
import { fromRoot } from "./paths.mjs"
import { SetupError } from "./progress.mjs"

afterEach(() => vi.unstubAllEnvs())

test("a Node that is too old is refused: the error names its version and the one needed", () => {
  expect(() => checkNode("18.20.8")).toThrow(SetupError)
  expect(() => checkNode("18.20.8")).toThrow(`this is Node 18.20.8 (${process.execPath}), and Heddle needs Node ≥ 20`)
  checkNode("20.0.0")
  checkNode(process.versions.node)
})

test("npm keeps its own cache when it can write or create it", () => {
  const folder = mkdtempSync(join(tmpdir(), "heddle-npm-cache-"))
  vi.stubEnv("npm_config_cache", join(folder, "home", ".npm"))
  expect(npmCache()).toEqual([])
  expect(existsSync(join(folder, "home"))).toBe(false)
  rmSync(folder, { recursive: true })
})

// A double of accessSync refuses, since root may write anywhere.
test("npm gets a cache in the repository when it cannot write its own", async () => {
  vi.doMock("node:fs", async (original) => ({
    ...(await original()),
    accessSync: () => {
      throw new Error("EACCES")
    },
  }))
  vi.resetModules()
  const { npmCache: cacheOf } = await import("./node-modules.mjs")
  expect(cacheOf()).toEqual(["--cache", fromRoot(".heddle", "npm")])
})
