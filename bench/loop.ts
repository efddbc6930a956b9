/** Measures the whole loop as a user sees it: the demo with the real ART client, once or several times. */
import { spawn } from "node:child_process"
import { engineVersions } from "./harness/environments.ts"
import { freePort } from "./harness/http.ts"
import { fromRoot, temporaryFolder } from "./harness/paths.ts"
import { progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { atLeast, atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** How often the demo runs. */
  rounds: { type: "string", default: "1" },
} as const

/** The last line that `npm run demo -- --once --json` prints. */
interface DemoReport {
  ready_s: number
  first_reward_s: number
  train_s: number
  steps: number
  gradient_steps: number
  held_out_before: number
  held_out_after: number
}

export async function run(given: Options): Promise<Findings> {
  const rounds = count(given, "rounds")
  const reports: DemoReport[] = []
  for (let round = 1; round <= rounds; round++) {
    const data = temporaryFolder()
    const report = await runDemo(data)
    progress(`round ${round}: held-out reward ${report.held_out_before} → ${report.held_out_after}`)
    reports.push(report)
  }
  const each = (name: keyof DemoReport) => reports.map((report) => report[name])
  const highest = (name: keyof DemoReport) => Math.max(...each(name))
  return {
    method: [
      "npm run demo -- --once --json on an empty data folder, with all packages installed: a real server, the engine, heddle/tiny and the unmodified openpipe-art client in the same two processes that a user starts.",
      "The held-out reward is the mean over questions that no round trains on, at temperature 1, before the first and after the last step.",
      "Nothing is seeded but the questions: the rounds differ by what is sampled. Each bar is held against the worst round.",
    ],
    versions: { ...engineVersions("torch"), "openpipe-art": "0.5.18" },
    settings: { model: "heddle/tiny", rounds },
    measurements: [
      measurement("server start → ready", "s", each("ready_s")),
      measurement("ready → first reward point", "s", each("first_reward_s")),
      measurement("training, first question to last step", "s", each("train_s")),
      measurement("checkpoints", "", each("steps")),
      measurement("gradient steps", "", each("gradient_steps")),
      measurement("held-out reward before", "", each("held_out_before")),
      measurement("held-out reward after", "", each("held_out_after")),
    ],
    bars: [
      atMost("ready → first reward point", 15, highest("first_reward_s"), "s"),
      atMost("held-out reward before", 0.35, highest("held_out_before"), "reward"),
      atLeast("held-out reward after", 0.5, Math.min(...each("held_out_after")), "reward"),
      atMost("steps", 90, highest("steps"), "steps"),
      atMost("training time", 120, highest("train_s"), "s"),
    ],
    caveats: [],
  }
}

/** Runs the demo and returns its report, which is its last line; its other output goes to standard error. */
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
