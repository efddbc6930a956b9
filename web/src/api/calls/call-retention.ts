/** How long calls of a project are kept: `/project/ttl_settings`. */
import type { retentionAnswer } from "@heddle/server/wire/objects/project.ts"
import type { callsQueryStatsAnswer } from "@heddle/server/wire/calls/call-read.ts"
import { useMutation, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"

type Retention = z.output<typeof retentionAnswer>

export function useCallRetention(project_id: string) {
  return useQuery(jsonQuery<Retention>("POST", "/project/ttl_settings/read", { project_id }))
}

export function useChangeCallRetention() {
  return useMutation<Retention, ApiError, Retention & { project_id: string }>({
    mutationFn: (body) => sendForJson({ method: "POST", path: "/project/ttl_settings/update", body }),
    // When a call goes stands in every list of calls.
    onSuccess: () => queryClient.invalidateQueries(),
  })
}

/** How many calls began before a moment (ISO 8601). */
export function useCallsBefore(project_id: string, moment: string) {
  const query = { $expr: { $lt: [{ $getField: "started_at" }, { $literal: moment }] } }
  const path = "/calls/query_stats"
  const select = ({ count }: z.output<typeof callsQueryStatsAnswer>) => count
  return useQuery({ ...jsonQuery<z.output<typeof callsQueryStatsAnswer>>("POST", path, { project_id, query }), select })
}
