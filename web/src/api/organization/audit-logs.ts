/** The record of changes: `/v1/organization/audit_logs`. Only administrators may ask. */
import type { AuditLog, auditLogPage } from "@heddle/server/wire/platform/audit-log.ts"
import { useInfiniteQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"

type AuditLogPage = z.output<typeof auditLogPage>

interface AuditParameters {
  "event_types[]"?: readonly string[]
  /** Ids of users. */
  "actor_ids[]"?: readonly string[]
  "teams[]"?: readonly string[]
}

const path = "/v1/organization/audit_logs"
const pageRows = 50

/** The newest first, page after page. */
export function useAuditLogs(parameters: AuditParameters, { enabled }: { enabled: boolean }) {
  return useInfiniteQuery<AuditLogPage, ApiError, AuditLog[], unknown[], string | undefined>({
    queryKey: [`GET ${path}`, parameters, "pages"],
    initialPageParam: undefined,
    queryFn: ({ pageParam, signal }) =>
      sendForJson({ method: "GET", path, query: { ...parameters, limit: pageRows, after: pageParam }, signal }),
    getNextPageParam: (last) => (last.has_more ? (last.last_id ?? undefined) : undefined),
    select: ({ pages }) => pages.flatMap(({ data }) => data),
    enabled,
  })
}
