/** Tokens and requests of chat: `/v1/organization/usage/completions`. */
import type { UsagePage } from "@heddle/server/wire/inference/usage.ts"
import { useQuery } from "@tanstack/react-query"
import { sendForJson } from "../client.ts"
import { jsonQuery } from "../queries.ts"

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

const exportedDays = 31

/** Each day apart, and each project, person, key and model: every page of it. */
export async function readUsage(parameters: {
  start_time: number
  project_ids?: readonly string[]
}): Promise<UsagePage["data"]> {
  const data: UsagePage["data"] = []
  let page: string | undefined
  do {
    const answer = await sendForJson<UsagePage>({
      method: "GET",
      path: "/v1/organization/usage/completions",
      query: {
        ...parameters,
        bucket_width: "1d",
        group_by: ["project_id", "user_id", "api_key_id", "model"],
        limit: exportedDays,
        page,
      },
    })
    data.push(...answer.data)
    page = answer.next_page ?? undefined
  } while (page !== undefined)
  return data
}
