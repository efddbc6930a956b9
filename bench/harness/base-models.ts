/** The two models that the benchmarks run on. */
import { existsSync, renameSync, rmSync } from "node:fs"
import { step } from "../../scripts/setup/progress.mjs"
import { runLogged } from "../../scripts/setup/run.mjs"
import { enginePython } from "./environments.ts"
import { fromRoot, logFile, pythonScript } from "./paths.ts"

export interface BaseModel {
  /** The name that clients send. */
  name: string
  /** The name for readers of the report. */
  title: string
  folder: string
}

export const modelSizes = ["tiny", "small"] as const
export type ModelSize = (typeof modelSizes)[number]

export async function baseModel(size: ModelSize): Promise<BaseModel> {
  if (size === "tiny")
    return { name: "heddle/tiny", title: "heddle/tiny", folder: fromRoot("engine/models/heddle-tiny") }
  const folder = fromRoot(".heddle/models/bench-small")
  if (!existsSync(folder)) await makeSmallModel(folder)
  return { name: folder, title: "random Qwen3, 107 M", folder }
}

async function makeSmallModel(folder: string): Promise<void> {
  const python = await enginePython()
  const unfinished = `${folder}.new`
  rmSync(unfinished, { recursive: true, force: true })
  await step("bench: making the random 107 M model", () =>
    runLogged(python, [pythonScript("make_small_model.py"), unfinished], {
      log: logFile("small-model"),
    }),
  )
  renameSync(unfinished, folder)
}
