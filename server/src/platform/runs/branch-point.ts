/** Where a run of the wandb client branched off, as its config has it: platform-wandb 5.6, 5.7. */
import { HeddleError } from "../../errors.ts"
import { textAt } from "../../json/json-members.ts"
import { isJsonObject, tryParse } from "../../json/parsed-json.ts"

interface BranchPoint {
  runName: string
  step: number
}

/** The other run that this one is a fork of; null: it is none. A run that was rewound names itself. @throws {HeddleError} `bad_request`. */
export function sourceOf(ownName: string, config: string): BranchPoint | null {
  const branch = branchPointOf(config)
  return branch === null || branch.runName === ownName ? null : branch
}

/** null: the run begins with no other's history. @throws {HeddleError} `bad_request`. */
export function branchPointOf(config: string): BranchPoint | null {
  const text = textAt(config, ["_wandb", "value", "branch_point"])
  if (text === null || text === "null") return null
  const branch = tryParse(text)
  const { run_id: runName, step }: Record<string, unknown> = isJsonObject(branch) ? branch : {}
  if (typeof runName === "string" && Number.isSafeInteger(step)) return { runName, step: step as number }
  throw new HeddleError(
    "bad_request",
    `upsertBucket: config: the branch point ${text.slice(0, 200)} is none; it has the run_id of a run, and a step, which is a whole number`,
  )
}
