/** What whoever is signed in may do in a project. */
import { useQueueWork } from "./labelling/annotation-queues.ts"

/** The answer of the work on queues says it, also of a project without any. false: they may not, or it is not known yet. */
export function useMayWrite(projectId: string): boolean {
  const work = useQueueWork({ project_id: projectId, queue_ids: [] })
  return work.data?.caller.may_write ?? false
}
