/** Who is signed in: `/v1/session`. */
import type { CurrentSession, sessionList } from "@heddle/server/wire/platform/session.ts"
import { useMutation, useQuery, useSuspenseQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "./api-error.ts"
import { sendForJson } from "./client.ts"
import { jsonQuery, queryClient } from "./queries.ts"

export const sessionQuery = jsonQuery<CurrentSession>("GET", "/v1/session")

/** The session, on pages behind the sign-in, whose route has read it already. */
export function useSession(): CurrentSession {
  return useSuspenseQuery({ ...sessionQuery, retry: false }).data
}

export function useSignOut() {
  return useMutation<unknown, ApiError>({
    mutationFn: () => sendForJson({ method: "DELETE", path: "/v1/session" }),
  })
}

type SessionList = z.output<typeof sessionList>

/** Browsers that are signed in: `GET /v1/sessions`. */
export function useSessions() {
  return useQuery(jsonQuery<SessionList>("GET", "/v1/sessions"))
}

export function useEndSession() {
  return useMutation<unknown, ApiError, string>({
    mutationFn: (id) => sendForJson({ method: "DELETE", path: `/v1/sessions/${encodeURIComponent(id)}` }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["GET /v1/sessions"] }),
  })
}
