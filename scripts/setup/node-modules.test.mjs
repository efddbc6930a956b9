import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, test, vi } from "vitest"
import { checkNode, noNode, npmCache } from "./node-modules.mjs"
import { fromRoot } from "./paths.mjs"
import { SetupError } from "./progress.mjs"

afterEach(() => vi.unstubAllEnvs())

test("a Node that is too old is refused: the error names its version and the one needed", () => {
  expect(() => checkNode("18.20.8")).toThrow(SetupError)
  expect(() => checkNode("18.20.8")).toThrow(`this is Node 18.20.8 (${process.execPath}), and Heddle needs Node ≥ 20`)
  checkNode("20.0.0")
  checkNode(process.versions.node)
})

test("a Node that lacks a library of the system says which, and how to install it", () => {
  const folder = mkdtempSync(join(tmpdir(), "heddle-no-node-"))
  const binary = join(folder, "node")
  const missing = "error while loading shared libraries: libatomic.so.1: cannot open shared object file"
  writeFileSync(binary, `#!/bin/sh\necho "${missing}" >&2\nexit 127\n`, { mode: 0o700 })
  expect(noNode(binary).message).toMatch(
    /does not run: error while .* libatomic\.so\.1.*\n.*apt-get install libatomic1/,
  )
  writeFileSync(binary, "#!/bin/sh\necho v18.0.0\n")
  expect(noNode(binary).message).toContain("does not run: it says v18.0.0")
  expect(noNode(join(folder, "none")).message).toContain("npm has installed no Node for")
  rmSync(folder, { recursive: true })
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
