/** Sizes of projects: `/project/stats`. */
import type { projectStatsAnswer } from "@heddle/server/wire/objects/project.ts"
import { useQueries } from "@tanstack/react-query"
import type * as z from "zod"
import { jsonQuery } from "../queries.ts"

type Sizes = z.output<typeof projectStatsAnswer>

/** Sizes in the order of `projectIds`. */
export function useProjectSizes(projectIds: readonly string[]) {
  return useQueries({
    queries: projectIds.map((project_id) => jsonQuery<Sizes>("POST", "/project/stats", { project_id })),
  })
}
