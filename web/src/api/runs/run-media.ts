/** What a run logged that is no number: the objects of its history, by name and step. */
import { queryOptions, useQuery } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { askGraphql } from "./graphql.ts"
import type { OfRun } from "./runs.ts"

const text = `query($entity: String!, $project: String!, $run: String!, $specs: [JSONString!]!) {
  project(name: $project, entityName: $entity) { run(name: $run) { sampledHistory(specs: $specs) } }
}`

interface Answer {
  project: { run: { sampledHistory: Record<string, unknown>[][] } | null } | null
}

/** Of a run with more steps so many are read, spread over it, the first and the last among them. */
const samples = 60

export interface LoggedObject {
  step: number
  value: unknown
}

/** By name, each ascending by step. At most 20 names. `heardAt`: they are read again when the run was heard of since. */
export function useLoggedObjects(of: OfRun, heardAt: string, names: readonly string[]) {
  return useQuery(
    queryOptions<ReadonlyMap<string, LoggedObject[]>, ApiError>({
      queryKey: ["POST /graphql sampledHistory", of, names, heardAt],
      queryFn: async ({ signal }) => {
        const specs = names.map((name) => JSON.stringify({ keys: ["_step", name], samples }))
        const { project } = await askGraphql<Answer>(text, { ...of, specs }, signal)
        const rows = project?.run?.sampledHistory ?? []
        return new Map(names.map((name, place) => [name, objectsOf(rows[place] ?? [], name)]))
      },
      staleTime: Infinity,
      structuralSharing: false,
    }),
  )
}

function objectsOf(rows: readonly Record<string, unknown>[], name: string): LoggedObject[] {
  return rows.map((row) => ({ step: Number(row["_step"]), value: row[name] }))
}
