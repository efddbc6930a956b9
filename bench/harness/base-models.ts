/** The models that the benchmarks run on. */
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
  return randomModel("small", "random Qwen3, 107 M")
}

/** A model of few small layers over a vocabulary of 151,936, where what is done for each token of it counts most. */
export const wideModel = () => randomModel("wide", "random Qwen3, vocabulary 151,936")

async function randomModel(shape: string, title: string): Promise<BaseModel> {
  const folder = fromRoot(`.heddle/models/bench-${shape}`)
  if (!existsSync(folder)) await makeRandomModel(shape, folder)
  return { name: folder, title, folder }
}

async function makeRandomModel(shape: string, folder: string): Promise<void> {
  const python = await enginePython()
  const unfinished = `${folder}.new`
  rmSync(unfinished, { recursive: true, force: true })
  await step(`bench: making the random ${shape} model`, () =>
    runLogged(python, [pythonScript("make_random_model.py"), shape, unfinished], {
      log: logFile(`${shape}-model`),
    }),
  )
  renameSync(unfinished, folder)
}
