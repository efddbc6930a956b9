/** The models of a project, and the one of them that learns. */
import { useModels } from "../../../api/training/training.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import type { TrainSearch } from "./train-search.ts"

interface Model {
  id: string
  name: string
}

export interface TrainedModels {
  /** The newest first; undefined while they are read. */
  models: readonly Model[] | undefined
  /** null: none, or one that is still to be made. */
  chosen: Model | null
  /** Whether it is still unknown which one is chosen. */
  isReading: boolean
  /** The name in the address where there is no such model; null: there is, or none is named. */
  gone: string | null
  error: Error | null
  retry: () => void
}

const mostModels = 100

export function useTrainedModels({ entity, project }: CurrentProject, search: TrainSearch): TrainedModels {
  const listed = useModels({ entity, project, limit: mostModels })
  const wanted = search.newModel === true ? undefined : search.model
  const known = listed.data?.data
  const ofList = known?.find(({ name }) => name === wanted)
  // An older one than those of the list, or none at all.
  const isOther = wanted !== undefined && known !== undefined && ofList === undefined
  const named = useModels({ entity, project, name: wanted ?? "", limit: 1 }, { enabled: isOther })
  const other = isOther ? named.data?.data.find(({ name }) => name === wanted) : undefined
  const isReading = (known === undefined && listed.error === null) || (isOther && named.isFetching)
  const first = search.newModel === true || wanted !== undefined ? undefined : known?.[0]
  return {
    models: other === undefined ? known : [other, ...(known ?? [])],
    chosen: ofList ?? other ?? first ?? null,
    isReading,
    gone: isOther && !isReading && named.error === null && other === undefined ? wanted : null,
    error: listed.error ?? (isOther ? named.error : null),
    retry: () => void Promise.all([listed.refetch(), ...(isOther ? [named.refetch()] : [])]),
  }
}
