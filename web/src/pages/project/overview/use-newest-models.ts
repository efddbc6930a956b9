/** The models that the overview shows and counts: one reading for all of its parts. */
import { useModels } from "../../../api/training/training.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { slow } from "./live.ts"

export const useNewestModels = ({ params }: CurrentProject) => useModels({ ...params, limit: 100 }, slow)
