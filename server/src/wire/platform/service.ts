/** Calls that clients make before anything else: objects 10, calls 1.2. */
import { z } from "zod"
import { textList } from "../bounded-list.ts"

export const serverInfo = z.object({
  min_required_weave_python_version: z.string(),
  trace_server_version: z.string(),
})

export const versionAnswer = z.object({ version: z.string() })

export const projectsInfoBody = z.object({ project_ids: textList })

export const projectsInfo = z.array(z.object({ external_project_id: z.string(), internal_project_id: z.string() }))
export type ProjectsInfo = z.infer<typeof projectsInfo>
