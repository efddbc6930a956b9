import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, test, vi } from "vitest"
import { checkNode, npmCache } from "./node-modules.mjs"
import { fromRoot } from "./paths.mjs"
import { SetupError } from "./progress.mjs"

afterEach(() => vi.unstubAllEnvs())

test("a Node that is too old is refused by its version, with the one that is needed", () => {
  expect(() => checkNode("18.20.8")).toThrow(SetupError)
  expect(() => checkNode("18.20.8")).toThrow(`this is Node 18.20.8 (${process.execPath}), and Heddle needs Node ≥ 20`)
  checkNode("20.0.0")
  checkNode(process.versions.node)
})

test("npm keeps its own cache where it can write it, also one that is not there yet", () => {
  const folder = mkdtempSync(join(tmpdir(), "heddle-npm-cache-"))
  vi.stubEnv("npm_config_cache", join(folder, "home", ".npm"))
  expect(npmCache()).toEqual([])
  expect(existsSync(join(folder, "home"))).toBe(false)
  rmSync(folder, { recursive: true })
})

// A double for the answer, since root may write anywhere.
test("npm gets a cache of ours where its own cannot be written", async () => {
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
