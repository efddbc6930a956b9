import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { expect, test } from "vitest"
import { fromRoot } from "../setup/paths.mjs"
import { hasRoom } from "./memory-folder.mjs"

const script = `
  import { existsSync } from "node:fs"
  import { keepTemporaryFilesInMemory } from ${JSON.stringify(fromRoot("scripts", "test", "memory-folder.mjs"))}
  keepTemporaryFilesInMemory()
  console.log(process.env.TMPDIR ?? "", existsSync(process.env.TMPDIR ?? ""))`

function folderOfRun(TMPDIR) {
  const env = { ...process.env, TMPDIR }
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], { env, encoding: "utf8" })
  return run.stdout.trim().split(" ")
}

test.runIf(hasRoom())("temporary files of a run are in memory, and gone when it has ended", () => {
  const [folder, isThere] = folderOfRun("")
  expect(folder).toMatch(/^\/dev\/shm\/heddle-tests-\d+-/)
  expect(isThere).toBe("true")
  expect(existsSync(folder)).toBe(false)
})

test("a folder that TMPDIR names is kept", () => {
  expect(folderOfRun("/tmp")).toEqual(["/tmp", "true"])
})
