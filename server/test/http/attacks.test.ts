/** During each attack in its small form, a real server with the real engine answers another team (law 8). */
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { attacks } from "../support/attacks/attack-list.ts"
import type { Ground } from "../support/attacks/attack.ts"
import { startWave } from "../support/attacks/attack-wave.ts"
import { makeHostileBases, openSilentHub, type SilentHub } from "../support/attacks/hostile-bases.ts"
import { isExpected } from "../support/attacks/send-attack.ts"
import { makeTeam, type OtherTeam, readerOf, settleOtherTeam } from "../support/attacks/teams.ts"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { busyGauges } from "../support/metrics.ts"
import { type RunningServer, startServer } from "../support/server-process.ts"
import { adminKey } from "../support/test-app.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")
const mebibyte = 1024 ** 2

/** Limits so small that a small attack reaches them. */
const limits = {
  HEDDLE_LIMIT_BODY_MEMORY_BYTES: `${64 * mebibyte}`,
  HEDDLE_LIMIT_BODY_MEMORY_BYTES_PER_USER: `${16 * mebibyte}`,
  HEDDLE_LIMIT_BODY_IDLE_MS: "10000",
  HEDDLE_LIMIT_CHAT_TEMPLATE_MS: "1000",
  HEDDLE_LIMIT_GRAMMAR_MS: "1000",
  HF_HUB_ETAG_TIMEOUT: "2",
}

/**
 * The fewest answers that the other team gets during an attack that lasts. It would get one or two if its requests
 * waited for the attack's, in a queue or for the event loop.
 */
const enough = 10

let folder: string
let hub: SilentHub
let server: RunningServer | null = null
let ground: Ground
let other: OtherTeam
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-attacks-"))
  hub = await openSilentHub()
  const dataDir = path.join(folder, "data")
  await copyCatalogTemplate(dataDir)
  const bases = path.join(folder, "bases")
  const env = {
    ...limits,
    ...hub.env,
    ...(await makeHostileBases(bases)),
    HF_HUB_OFFLINE: "",
    HF_HOME: path.join(folder, "hub"),
  }
  server = await startServer(dataDir, { ...env, HEDDLE_PYTHON: python, HEDDLE_LOG: "fatal" })
  const { url } = server
  ground = { url, attacker: await makeTeam(url, adminKey, "attacker"), bases }
  other = await settleOtherTeam(url, await makeTeam(url, adminKey, "other"))
  // The engine is still starting when the server is ready.
  await vi.waitFor(async () => expect(await other.chat()).toBe(200), { timeout: 60_000, interval: 200 })
}, 180_000)
afterAll(async () => {
  if (server !== null) await stop(server.process)
  await hub[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "close")
  child.kill("SIGTERM")
  // A server whose event loop an attack has stopped ends by SIGKILL only.
  const kill = setTimeout(() => child.kill("SIGKILL"), 40_000)
  await ended
  clearTimeout(kill)
}

test.each(attacks)("security $name: $does", async (attack) => {
  const wave = await startWave(attack, ground, "small")
  const asked = attack.onChat === true ? [other.light, other.light, other.chat] : [other.light, other.light]
  let beside = 0
  do {
    for (const ask of asked) {
      expect(await ask()).toBe(200)
      if (!wave.isOver) beside++
    }
  } while (attack.lasts !== "shortly" && beside < enough && !wave.isOver)
  if (attack.lasts !== "shortly") expect(beside).toBeGreaterThanOrEqual(enough)
  if (attack.lasts === "until left") wave.leave()
  const outcomes = await wave.outcomes
  expect(outcomes.filter((outcome) => !isExpected(attack, `${outcome}`))).toEqual([])
  await expect.poll(() => busyGauges(readerOf(ground.url, adminKey)), { timeout: 60_000 }).toEqual([])
})
