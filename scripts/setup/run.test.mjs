import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { fromRoot } from "./paths.mjs"

let folder
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "heddle-run-"))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A process that runs a shell by `runLogged`; the shell starts a program and writes its id. */
function installing(pidFile) {
  const script = `
    import { runLogged } from ${JSON.stringify(fromRoot("scripts", "setup", "run.mjs"))}
    await runLogged("sh", ["-c", "sleep 60 & echo $! > ${pidFile}; wait"], { log: ${JSON.stringify(join(folder, "log"))} })`
  return spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" })
}

function isAlive(pid) {
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : ""
  return stat !== "" && !stat.includes(") Z ")
}

test.runIf(existsSync("/proc/self/stat")).each(["SIGINT", "SIGTERM", "SIGHUP"])(
  "%s ends a set-up and every program that it has started",
  async (signal) => {
    const pidFile = join(folder, "pid")
    const setup = installing(pidFile)
    const ended = once(setup, "exit")
    await expect
      .poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8"), { timeout: 15_000 })
      .toMatch(/^\d+\n$/)
    const pid = Number(readFileSync(pidFile, "utf8"))
    expect(isAlive(pid)).toBe(true)
    setup.kill(signal)
    expect(await ended).toEqual([null, signal])
    await expect.poll(() => isAlive(pid), { timeout: 5_000 }).toBe(false)
  },
)
