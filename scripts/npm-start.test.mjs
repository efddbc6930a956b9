import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { expect, test } from "vitest"
import { root } from "./setup/paths.mjs"

test(
  "a SIGTERM to npm, which service managers and containers send, ends the server",
  { timeout: 120_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "heddle-npm-start-"))
    const npm = spawn("npm", ["start", "--", "--port", "0", "--data-dir", folder], {
      cwd: root,
      env: { ...process.env, HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal" },
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    })
    const ended = once(npm, "exit")
    try {
      const url = await readyUrl(npm)
      npm.kill("SIGTERM")
      await ended
      await expect(fetch(`${url}/v1/health`)).rejects.toThrow("fetch failed")
    } finally {
      endGroup(npm)
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

/** Ends the processes of npm's group that the signal left running. */
function endGroup({ pid = 0 }) {
  try {
    if (pid > 0) process.kill(-pid, "SIGKILL")
  } catch (error) {
    if (error.code !== "ESRCH") throw error
  }
}

async function readyUrl(npm) {
  for await (const line of createInterface({ input: npm.stdout })) {
    const url = /ready at (\S+)/.exec(line)?.[1]
    if (url) return url
  }
  throw new Error("the server is not ready")
}
