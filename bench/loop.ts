/** The whole loop as a user sees it: the demo with the real ART client, once. */
import { spawn } from "node:child_process"
import { engineVersions } from "./harness/environments.ts"
import { freePort } from "./harness/http.ts"
import { fromRoot, temporaryFolder } from "./harness/paths.ts"
import { atLeast, atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {} as const

/** What `npm run demo -- --once --json` prints last. */
interface DemoReport {
  ready_s: number
  first_reward_s: number
  train_s: number
  steps: number
  gradient_steps: number
  held_out_before: number
  held_out_after: number
}

export async function run(): Promise<Findings> {
  using data = temporaryFolder()
  const report = await runDemo(data.path)
  return {
    method: [
      "npm run demo -- --once --json on an empty data folder, with all packages installed: a real server, the engine, heddle/tiny and the unmodified openpipe-art client in the same two processes that a user starts.",
      "The held-out reward is the mean over questions that no round trains on, at temperature 1, before the first and after the last step.",
    ],
    versions: { ...engineVersions("torch"), "openpipe-art": "0.5.18" },
    settings: { model: "heddle/tiny" },
    measurements: [
      measurement("server start → ready", "s", [report.ready_s]),
      measurement("ready → first reward point", "s", [report.first_reward_s]),
      measurement("training, first question to last step", "s", [report.train_s]),
      measurement("checkpoints", "", [report.steps]),
      measurement("gradient steps", "", [report.gradient_steps]),
      measurement("held-out reward before", "", [report.held_out_before]),
      measurement("held-out reward after", "", [report.held_out_after]),
    ],
    bars: [
      atMost("ready → first reward point", 15, report.first_reward_s, "s"),
      atMost("held-out reward before", 0.35, report.held_out_before, "reward"),
      atLeast("held-out reward after", 0.5, report.held_out_after, "reward"),
      atMost("steps", 90, report.steps, "steps"),
      atMost("training time", 120, report.train_s, "s"),
    ],
    caveats: [],
  }
}

/** Runs the demo; what it shows goes to standard error, the report is its last line. */
async function runDemo(dataDir: string): Promise<DemoReport> {
  const port = String(await freePort())
  const args = [fromRoot("scripts/heddle.mjs"), "demo", "--once", "--json", "--port", port, "--data-dir", dataDir]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  process.once("exit", () => child.kill("SIGTERM"))
  const lines: string[] = []
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    process.stderr.write(chunk as string)
    lines.push(chunk as string)
  }
  const code = child.exitCode ?? (await new Promise((resolve) => child.once("exit", resolve)))
  const last = lines.join("").trimEnd().split("\n").at(-1) ?? ""
  if (code !== 0 || !last.startsWith("{"))
    throw new Error(`the demo ended with ${String(code)}; its last line: ${last}`)
  return JSON.parse(last) as DemoReport
}
