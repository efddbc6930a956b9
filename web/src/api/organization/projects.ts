/** `/v1/projects` */
import type { Project, projectPage } from "@heddle/server/wire/platform/project-list.ts"
import { useMutation, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"
import { sessionQuery } from "../session.ts"

type ProjectPage = z.output<typeof projectPage>

export function useProjects(parameters: { query?: string; entity?: string; limit?: number } = {}) {
  return useQuery(jsonQuery<ProjectPage>("GET", "/v1/projects", parameters))
}

/** Whether there is such a project; its first call makes it. undefined: not known yet. */
export function useProject(entity: string, name: string, options: { refetchInterval?: number | false } = {}) {
  // While it is read, the page of the project before stands in its place.
  const select = (page: ProjectPage) => page.data.find((project) => project.name === name) ?? null
  return useQuery({ ...jsonQuery<ProjectPage>("GET", "/v1/projects", { entity, name }), select, ...options })
}

interface ProjectToDelete {
  entity: string
  name: string
  /** Goes to a page that is not the project's, whose pages would ask for what is gone, unless another one is on its way. */
  leave: () => Promise<void>
}

export function useDeleteProject() {
  return useMutation<unknown, ApiError, ProjectToDelete>({
    mutationFn: ({ entity, name }) =>
      sendForJson({ method: "DELETE", path: `/v1/projects/${encodeURIComponent(entity)}/${encodeURIComponent(name)}` }),
    onSuccess: async (_answer, { leave }) => {
      await leave()
      // Drops what its pages had read: a new project of the same name is empty.
      queryClient.removeQueries({ type: "inactive" })
      await queryClient.invalidateQueries()
    },
  })
}

export function useCreateProject() {
  return useMutation<Project, ApiError, { entity: string; name: string }>({
    mutationFn: (body) => sendForJson({ method: "POST", path: "/v1/projects", body }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["GET /v1/projects"] })
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
    },
  })
}
