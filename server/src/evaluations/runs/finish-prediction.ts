/** Finishing a prediction: its scores become the output of the `predict_and_score` call above it (evaluation-store-objects 7). */
import type { Principal } from "../../http/principal.ts"
import { memberText, withMembers } from "../../json/json-members.ts"
import { findChildIds } from "../../storage/traces/calls/call-children.ts"
import { type CallRow, readCallRows } from "../../storage/traces/calls/call-row-reads.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { callDuration } from "../../calls/read/call-duration.ts"
import { recordCalls } from "../../calls/write/recorded-call.ts"
import { type ProjectAccess, existingProject } from "../../access/project-access.ts"
import { tryParseRef } from "../../objects/refs/refs.ts"
import { findPrediction, isPrediction } from "./predictions.ts"
import { markersOf } from "./run-calls.ts"

/** Again, with the scores that came since. The prediction itself ended when it was made. */
export async function finishPrediction(
  dependencies: CallDependencies,
  principal: Principal,
  projectName: string,
  id: string,
): Promise<void> {
  const project = await existingProject(dependencies.database, principal, projectName)
  const { row, trial } = await findPrediction(dependencies, project, id)
  if (trial === null) return
  const scores = await scoresOf(dependencies, project, trial)
  const end = {
    id: trial.id,
    endedAt: trial.ended_at ?? new Date(),
    output: isPrediction(row) || trial.output == null ? outputText(row, scores) : withScores(trial.output, scores),
    summary: trial.summary ?? "{}",
    exception: trial.exception ?? null,
  }
  await recordCalls(dependencies, principal, project.name, [{ end }])
}

type Scores = ReadonlyMap<string, string>

function outputText(row: CallRow, scores: Scores): string {
  const text = withMembers("{}", Object.fromEntries(scores))
  return `{"output":${row.output ?? "null"},"scores":${text},"model_latency":${latencyText(row)}}`
}

/** An SDK that made the trial gave its output too, with scores of which there are no calls that this API marked. */
function withScores(output: string, scores: Scores): string {
  if (scores.size === 0 || !output.startsWith("{")) return output
  const own = memberText(output, "scores")
  return withMembers(output, {
    scores: withMembers(own?.startsWith("{") === true ? own : "{}", Object.fromEntries(scores)),
  })
}

/** JSON texts of the newest score of each scorer, by the scorer's name. */
async function scoresOf({ traces }: CallDependencies, project: ProjectAccess, trial: CallRow): Promise<Scores> {
  const scores = new Map<string, string>()
  const ids = await findChildIds(traces, project.id, trial)
  for (const row of await readCallRows(traces, project.id, ids, ["attributes", "output"])) {
    const { score, scorer } = markersOf(row)
    if (score !== "true" || typeof scorer !== "string") continue
    const name = tryParseRef(scorer)?.name
    if (name !== undefined) scores.set(name, row.output ?? "null")
  }
  return scores
}

function latencyText(row: CallRow): string {
  const duration = callDuration(row)
  return duration === null ? "null" : JSON.stringify({ mean: Number(duration) / 1e6 })
}
