/** Facts about the server: `/server_info`, `/v1/health`, `/v1/system-check`. */
import type { serverInfo } from "@heddle/server/wire/platform/service.ts"
import type { Health, SystemCheck } from "@heddle/server/wire/training/health.ts"
import { useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "./api-error.ts"
import { sendForJson } from "./client.ts"
import { jsonQuery } from "./queries.ts"

type ServerInfo = z.output<typeof serverInfo>

export function useServerInfo() {
  return useQuery({ ...jsonQuery<ServerInfo>("GET", "/server_info"), staleTime: Infinity })
}

export function useHealth(options: { refetchInterval?: number | false } = {}) {
  return useQuery({ ...jsonQuery<Health>("GET", "/v1/health"), ...options })
}

/** 503 with the same body when a part fails, which is an answer and no error here. */
export function useSystemCheck(options: { refetchInterval?: number | false } = {}) {
  const path = "/v1/system-check"
  return useQuery<SystemCheck, ApiError>({
    queryKey: [`GET ${path}`],
    queryFn: ({ signal }) => sendForJson({ method: "GET", path, alsoFine: 503, signal }),
    ...options,
  })
}
