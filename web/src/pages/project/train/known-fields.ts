/** Fields that rows of the chosen source have, as far as samples of them tell. */
import { useQueues } from "../../../api/labelling/annotation-queues.ts"
import { type CallsQuery, useCalls } from "../../../api/calls/calls.ts"
import { useTrialScores } from "../../../api/evaluations/evaluations.ts"
import { useNewestFeedback } from "../../../api/calls/feedback.ts"
import { useLabelFields } from "../../../api/labelling/labelling.ts"
import { useObjectVersion } from "../../../api/objects/object-versions.ts"
import { useTableParts } from "../../../api/objects/tables.ts"
import { feedbackOf } from "../../../calls/call-summary.ts"
import { FilterError } from "../../../calls/filter/filter-text.ts"
import { feedbackSamples, type FoundField, foundFields } from "../../../calls/found-fields.ts"
import type { LabelField } from "../../../labelling/label-fields.ts"
import { tableOfDataset } from "../../../objects/dataset-table.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { askedField } from "./label-choices.ts"
import { toldCalls } from "./train-request.ts"
import type { TrainSearch } from "./train-search.ts"

export const mostQueues = 100
/** Calls, trials or rows that are looked at. */
const sampled = 100
/** Feedback is smaller, and much of it may be of one type. */
const sampledFeedback = 500

/** Questions of a queue come first. `now` in milliseconds, of when the page was opened. */
export function useKnownFields(project: CurrentProject, search: TrainSearch, now: number): FoundField[] {
  const questions = useQuestions(project, search)
  const asked = new Set(questions.map(({ name }) => `feedback.[wandb.annotation.${name}].payload.value`))
  const found = [
    ...useCallFields(project, search, now),
    ...useRolloutFields(project, search),
    ...useScoreFields(project, search),
    ...useColumns(project, search),
  ]
  return [...questions.map(askedField), ...found.filter(({ path }) => !asked.has(path))]
}

function useQuestions(project: CurrentProject, { from, queue }: TrainSearch): readonly LabelField[] {
  const hasQueue = queue !== undefined && (from === "queue" || from === "rollouts")
  const queues = useQueues({ project_id: project.id, limit: mostQueues }, { enabled: hasQueue })
  const refs = hasQueue ? queues.data?.find(({ id }) => id === queue)?.scorer_refs : undefined
  return useLabelFields(refs ?? []).fields
}

/** Feedback on the newest of the calls that have any. */
function useCallFields(project: CurrentProject, search: TrainSearch, now: number): FoundField[] {
  const body = callsOf(search, project.id, now)
  const calls = useCalls(body ?? { project_id: project.id }, { enabled: body !== null })
  if (body === null) return []
  return foundFields(feedbackSamples((calls.data ?? []).flatMap(({ summary }) => feedbackOf(summary))))
}

/** null: the rows are no calls, or the filter is not understood, which is said beside it. */
function callsOf(search: TrainSearch, project_id: string, now: number): CallsQuery | null {
  if (search.from !== undefined) return null
  try {
    return {
      project_id,
      ...toldCalls(search, project_id, now),
      columns: ["summary"],
      include_feedback: true,
      sort_by: [{ field: "started_at", direction: "desc" }],
      limit: sampled,
    }
  } catch (error) {
    if (error instanceof FilterError) return null
    throw error
  }
}

const reward: FoundField = { path: "rollout.reward", isScored: true, isText: false, words: [], isOfOnes: false }

/** Which calls are around the turns of rollouts is known to the server alone: all feedback of the project is offered. */
function useRolloutFields(project: CurrentProject, { from }: TrainSearch): FoundField[] {
  const isChosen = from === "rollouts"
  const feedback = useNewestFeedback(project.id, sampledFeedback, { enabled: isChosen })
  return isChosen ? [reward, ...foundFields(feedbackSamples(feedback.data ?? []))] : []
}

function useScoreFields(project: CurrentProject, { from, runs = [] }: TrainSearch): FoundField[] {
  const isChosen = from === "evaluation" && runs.length > 0
  const scores = useTrialScores(project.id, runs, sampled, { enabled: isChosen })
  return isChosen ? foundFields((scores.data ?? []).map((value) => ({ path: "scores", value }))) : []
}

/** Of the dataset's first rows. */
function useColumns(project: CurrentProject, { from, dataset = "", version }: TrainSearch): FoundField[] {
  const isChosen = from === "dataset" && dataset !== ""
  const body = { project_id: project.id, object_id: dataset, digest: version ?? "latest" }
  const read = useObjectVersion(body, isChosen)
  const table = isChosen && read.data !== undefined ? tableOfDataset(read.data.val, project.id) : null
  const parts = useTableParts(table === null ? [] : [{ project_id: project.id, digest: table, limit: sampled }])
  const rows = parts.flatMap(({ data }) => data ?? [])
  return foundFields(rows.map(({ val }) => ({ path: "row", value: JSON.parse(val) as unknown })))
}
