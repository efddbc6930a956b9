/** `/v1/organization/api_keys` */
import type { KeyScope } from "@heddle/server/wire/platform/access.ts"
import type { ApiKey, createdApiKey } from "@heddle/server/wire/platform/account.ts"
import { useMutation, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"

export type CreatedApiKey = z.output<typeof createdApiKey>

const path = "/v1/organization/api_keys"

/** Keys that live: one's own, of an administrator everybody's. */
export function useApiKeys(options: { refetchInterval?: number | false } = {}) {
  return useQuery({ ...jsonQuery<{ data: ApiKey[] }>("GET", path), ...options })
}

interface NewApiKey {
  name: string
  /** Owner of the key, if an administrator makes it for somebody else or for a program of the team. */
  username?: string
  scope?: KeyScope
  /** ISO time; without it the key does not end by itself. */
  expires_at?: string
}

/** The answer is the only place that shows the key. */
export function useCreateApiKey() {
  return useMutation<CreatedApiKey, ApiError, NewApiKey>({
    mutationFn: (body) => sendForJson({ method: "POST", path, body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [`GET ${path}`] }),
  })
}

export function useRevokeApiKey() {
  return useMutation<unknown, ApiError, string>({
    mutationFn: (id) => sendForJson({ method: "DELETE", path: `${path}/${encodeURIComponent(id)}` }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [`GET ${path}`] }),
  })
}
