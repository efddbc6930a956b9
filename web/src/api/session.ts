/** Who is signed in: `/v1/session`. */
import type { CurrentSession, sessionList } from "@heddle/server/wire/platform/session.ts"
import { useMutation, useQuery, useSuspenseQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "./api-error.ts"
import { sendForJson } from "./client.ts"
import { noteSignIn } from "./last-user.ts"
import { jsonQuery, queryClient } from "./queries.ts"
import { sessionEnd, sessionResumed } from "./session-state.ts"

export const sessionQuery = jsonQuery<CurrentSession>("GET", "/v1/session")

/** The session, on pages behind the sign-in, whose route has read it already. */
export function useSession(): CurrentSession {
  return useSuspenseQuery({ ...sessionQuery, retry: false }).data
}

/** Credentials for signing in: a key, or the token of a link. */
export type SignIn = { api_key: string } | { token: string }

export function useSignIn() {
  return useMutation<CurrentSession, ApiError, SignIn>({
    mutationFn: (body) =>
      sendForJson({ method: "POST", path: "token" in body ? "/v1/session/token" : "/v1/session", body }),
    onSuccess: (session) => {
      const before = queryClient.getQueryData(sessionQuery.queryKey)?.user.id
      if (noteSignIn(session.user.id, before)) {
        // What the page of the one before still holds and sends is not this user's.
        if (sessionEnd.hasEnded()) return location.reload()
        queryClient.clear()
      }
      queryClient.setQueryData(sessionQuery.queryKey, session)
      // Whoever asked for the key goes away with this, so what was refused meanwhile is read again here.
      if (sessionEnd.hasEnded()) void queryClient.invalidateQueries()
      sessionResumed()
    },
  })
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
