/** What whoever is signed in may do in a project: what they may not is not offered. */
import { useQueueWork } from "./labelling/annotation-queues.ts"

/** The answer of the work on queues says it, also of a project without any. false: they may not, or it is not known yet. */
export function useMayWrite(projectId: string): boolean {
  return useCaller(projectId)?.may_write ?? false
}

/** Whoever may write may give feedback too. */
export function useMayLabel(projectId: string): boolean {
  return useCaller(projectId)?.may_label ?? false
}

const useCaller = (project_id: string) => useQueueWork({ project_id, queue_ids: [] }).data?.caller
