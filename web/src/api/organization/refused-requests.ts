/** `/v1/refused-requests` */
import type { refusedRequestList } from "@heddle/server/wire/platform/refused-request.ts"
import { useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import { jsonQuery } from "../queries.ts"

type RefusedRequests = z.output<typeof refusedRequestList>

export function useRefusedRequests(options: { refetchInterval?: number | false } = {}) {
  return useQuery({ ...jsonQuery<RefusedRequests>("GET", "/v1/refused-requests"), ...options })
}
