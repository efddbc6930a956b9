import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, rmSync } from "node:fs"
import { expect, test } from "vitest"
import { fromRoot } from "../setup/paths.mjs"
import { hasRoom } from "./memory-folder.mjs"

const script = `
  import { existsSync, mkdirSync, rmSync } from "node:fs"
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

const deadProcess = 2 ** 31 - 1
const leftover = `/dev/shm/heddle-tests-${deadProcess}-left`

test.runIf(hasRoom() && process.getuid?.() === 0)(
  "what a killed run left and cannot be removed stops no run",
  (context) => {
    mkdirSync(`${leftover}/disk`, { recursive: true })
    try {
      if (spawnSync("mount", ["-t", "tmpfs", "tmpfs", `${leftover}/disk`]).status !== 0) return context.skip()
      expect(folderOfRun("").at(-1)).toBe("true")
      spawnSync("umount", [`${leftover}/disk`])
      folderOfRun("")
      expect(existsSync(leftover)).toBe(false)
    } finally {
      spawnSync("umount", [`${leftover}/disk`])
      rmSync(leftover, { recursive: true, force: true })
    }
  },
)

test("a folder that TMPDIR names is kept", () => {
  expect(folderOfRun("/tmp")).toEqual(["/tmp", "true"])
})
