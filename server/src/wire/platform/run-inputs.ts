/** Inputs of the GraphQL mutations about runs: platform-wandb 4. Unknown members are the newer clients'. */
import { z } from "zod"
import { isPathStep } from "../training/model.ts"
import { storable as text } from "../well-formed.ts"
import { leadsInside } from "./leads-inside.ts"

const optional = text.max(100_000).nullish()

export const runName = text
  .min(1)
  .max(128)
  .refine((name) => !/[/\\#?%:]/.test(name), "may not have / \\ # ? % :")
  .refine((name) => !isPathStep(name), "may not be . or ..")

export const upsertBucketInput = z.looseObject({
  id: z.string().nullish(),
  name: runName.nullish(),
  entityName: z.string().nullish(),
  modelName: z.string().nullish(),
  displayName: optional,
  description: optional,
  notes: optional,
  groupName: optional,
  jobType: optional,
  jobProgram: optional,
  jobRepo: optional,
  commit: optional,
  host: optional,
  sweep: z.string().nullish(),
  state: z.string().nullish(),
  tags: z.array(text.max(1000)).max(1000).nullish(),
  config: text.nullish(),
  summaryMetrics: text.nullish(),
})

export const rewindRunInput = z.looseObject({
  runName: z.string(),
  entityName: z.string().nullish(),
  projectName: z.string().nullish(),
  metricName: z.string(),
  metricValue: z.int(),
})

/** The name under which a file is stored: the client asks for `./x` as well as for `x`. */
export function fileName(name: string): string {
  return name.replace(/^(?:\.\/)+/, "")
}

/** The catalog's index takes no more. */
const mostNameBytes = 2048

const fileNameInput = text
  .max(1024)
  .refine(
    (given) => new TextEncoder().encode(given).length <= mostNameBytes,
    `has more than ${mostNameBytes} bytes in UTF-8`,
  )
  .refine((given) => fileName(given) !== "" && leadsInside(fileName(given)), "is not a path inside the run")

/** A client that fetches all files of a run writes each under its name: none may lead out of the folder. */
export const mayBeFileName = (name: string): boolean => fileNameInput.safeParse(name).success

export const createRunFilesInput = z.looseObject({
  entityName: z.string().nullish(),
  projectName: z.string().nullish(),
  runName: z.string(),
  files: z.array(fileNameInput).max(10_000),
})

/** `waitDuration`: milliseconds. */
export const runAlertInput = z.looseObject({
  entityName: z.string().nullish(),
  projectName: z.string().nullish(),
  runName: z.string(),
  title: text.max(1000),
  text: text.max(100_000),
  severity: z.enum(["INFO", "WARN", "ERROR"]).nullish(),
  waitDuration: z.number().min(0).nullish(),
})

export const runIdInput = z.looseObject({ id: z.string() })
export const updateRunStateInput = runIdInput.extend({ state: z.enum(["pending", "failed"]) })
export type UpdateRunStateInput = z.output<typeof updateRunStateInput>
export const deleteRunInput = runIdInput.extend({ deleteArtifacts: z.boolean().nullish() })
export const deleteFilesInput = z.looseObject({ files: z.array(z.string()).max(10_000) })
