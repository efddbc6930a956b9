/** Measures how soon ART's own train_sft has a gradient: dialogues to rows, upload as an artifact, job, first step. */
import { existsSync } from "node:fs"
import path from "node:path"
import { clientPython, clientVersions, engineVersions } from "./harness/environments.ts"
import { startHeddle } from "./harness/heddle-server.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { fromRoot, temporaryFolder } from "./harness/paths.ts"
import { startWorker } from "./harness/python-worker.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** A file of JSON Lines with `question` and `answer`, such as the training rows of GSM8K. */
  data: { type: "string", default: "../shared/data/gsm8k/train.jsonl" },
  /** Rows of that file that are trained on. */
  rows: { type: "string", default: "200" },
  /** Jobs that are timed, each of a model of its own. */
  jobs: { type: "string", default: "5" },
} as const

const set = "art-0.5.23"

export async function run(given: Options): Promise<Findings> {
  const [rows, jobs] = [count(given, "rows"), count(given, "jobs")]
  const file = path.resolve(fromRoot(), String(given["data"]))
  if (!existsSync(file)) throw new Error(`--data ${file}: there is no such file`)
  const data = temporaryFolder()
  await using server = await startHeddle(data)
  const folder = temporaryFolder()
  await using worker = startWorker(await clientPython(set), "art_sft.py", "art-sft", {
    WANDB_BASE_URL: server.url,
    WANDB_API_KEY: server.adminKey,
    WANDB_DIR: folder,
    WANDB_CACHE_DIR: path.join(folder, "cache"),
    WANDB_DATA_DIR: path.join(folder, "staging"),
    WANDB_SILENT: "true",
    WANDB_CONSOLE: "off",
    WANDB_ERROR_REPORTING: "false",
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
    TQDM_DISABLE: "1",
  })
  const [first, ended]: [number[], number[]] = [[], []]
  // The first job is not counted: client and server load modules and the model for it, which later jobs find loaded.
  for (let job = 0; job <= jobs; job++) {
    const request = { url: server.url, key: server.adminKey, name: `sft-${job}`, file, rows }
    const took = await worker.call<{ first_gradient: number; ended: number }>("first_gradient", request)
    progress(
      `job ${job}: first gradient after ${took.first_gradient.toFixed(2)} s, ended after ${took.ended.toFixed(2)} s`,
    )
    if (job === 0) continue
    first.push(took.first_gradient)
    ended.push(took.ended)
  }
  return {
    method: [
      `ART's train_sft on ${rows} rows, ${jobs} times, each on a model of its own on heddle/tiny; WANDB_API_KEY is set, so it opens a run and uploads its rows as an artifact. Timed from the call to the first gradient step that the server lists, which is asked for every 5 ms.`,
    ],
    versions: { ...clientVersions(set, "openpipe-art", "wandb"), ...engineVersions("torch") },
    settings: { model: "heddle/tiny", rows, jobs },
    measurements: [
      measurement("train_sft is called → first gradient step", "s", first),
      measurement("train_sft is called → it returns", "s", ended),
    ],
    bars: [atMost("train_sft → first gradient step", 5, median(first), "s")],
    caveats: ["Client and server share the machine's cores."],
  }
}
