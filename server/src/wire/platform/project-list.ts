/** Projects. Most are made by the first thing that is stored in them. */
import { z } from "zod"
import { pageOf, pageQuery } from "../training/page.ts"
import { projectName } from "../training/model.ts"
import { entityName } from "./account.ts"

export const project = z.object({
  id: z.uuid(),
  object: z.literal("project"),
  entity: z.string(),
  name: z.string(),
  created_at: z.iso.datetime(),
  /** Whether it has runs of the wandb client, apart from those of its models. */
  has_runs: z.boolean(),
})

export const projectsQuery = pageQuery.extend({
  /** Entity to filter by. */
  entity: z.string().optional(),
  /** Its whole name in its entity, as it is written. */
  name: z.string().max(200).optional(),
  /** Part of `entity/name`, in any case. */
  query: z.string().max(200).optional(),
})

export const projectPage = pageOf(project)

export const createProjectBody = z.object({ entity: entityName, name: projectName })

export const namedProjectParams = z.object({ entity: z.string(), project: z.string() })

export const deletedProject = z.object({ id: z.uuid(), object: z.literal("project"), deleted: z.literal(true) })

export type Project = z.infer<typeof project>
