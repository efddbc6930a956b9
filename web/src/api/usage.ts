/** Tokens and requests of chat: `/v1/organization/usage/completions`. */
import type { UsagePage } from "@heddle/server/wire/inference/usage.ts"
import { useQuery } from "@tanstack/react-query"
import { jsonQuery } from "./queries.ts"

interface UsageParameters {
  /** Unix seconds. */
  start_time: number
  end_time?: number
  bucket_width: "1m" | "1h" | "1d"
  /** `entity/project` */
  project_ids?: readonly string[]
  group_by?: readonly ("project_id" | "user_id" | "api_key_id" | "model")[]
  limit?: number
}

interface Live {
  refetchInterval?: number | false
}

export function useUsage(parameters: UsageParameters, live: Live = {}) {
  return useQuery({ ...jsonQuery<UsagePage>("GET", "/v1/organization/usage/completions", parameters), ...live })
}
