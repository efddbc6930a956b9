/** Fields that rows of the chosen source have, as far as the server can tell. */
import { useQueues } from "../../../api/labelling/annotation-queues.ts"
import { useFeedbackTypes } from "../../../api/calls/feedback.ts"
import { useLabelFields } from "../../../api/labelling/labelling.ts"
import type { LabelField } from "../../../labelling/label-fields.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import type { TrainSearch } from "./train-search.ts"

export interface KnownFields {
  /** Questions of the queue whose labels count. */
  labels: readonly LabelField[]
  /** Paths of numbers that have no question: rewards and feedback. */
  paths: readonly string[]
}

export const mostQueues = 100

export function useKnownFields(project: CurrentProject, { from, queue }: TrainSearch): KnownFields {
  const hasQueue = queue !== undefined && (from === "queue" || from === "rollouts")
  const queues = useQueues({ project_id: project.id, limit: mostQueues }, { enabled: hasQueue })
  const refs = hasQueue ? queues.data?.find(({ id }) => id === queue)?.scorer_refs : undefined
  const { fields } = useLabelFields(refs ?? [])
  const isOfCalls = from === undefined || from === "rollouts"
  const feedback = useFeedbackTypes(project.id, { enabled: isOfCalls })
  const asked = new Set(fields.map(({ name }) => `wandb.annotation.${name}`))
  return {
    labels: fields,
    paths: [
      ...(from === "rollouts" ? ["rollout.reward"] : []),
      ...(isOfCalls ? (feedback.data ?? []).flatMap((type) => (asked.has(type) ? [] : (numberOf(type) ?? []))) : []),
    ],
  }
}

/** Where feedback of this type has what may be a number; null: nowhere. Votes prefer one answer to another. */
function numberOf(type: string): string | null {
  if (/^(wandb\.(note|reaction)|playground\.vote)/.test(type)) return null
  return `feedback.[${type}].payload.${type.startsWith("wandb.runnable.") ? "output" : "value"}`
}
