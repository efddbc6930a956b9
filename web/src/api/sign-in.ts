/** Signing in: `POST /v1/session`, `POST /v1/session/token`. */
import type { CurrentSession } from "@heddle/server/wire/platform/session.ts"
import { useMutation } from "@tanstack/react-query"
import type { ApiError } from "./api-error.ts"
import { putText } from "../kept/put-text.ts"
import { sendForJson } from "./client.ts"
import { userKey } from "./last-user.ts"
import { queryClient } from "./queries.ts"
import { sessionQuery } from "./session.ts"
import { sessionEnd, sessionResumed } from "./session-state.ts"

/** Credentials for signing in: a key, or the token of a link. */
export type SignIn = { api_key: string } | { token: string }

export function useSignIn() {
  return useMutation<CurrentSession, ApiError, SignIn>({
    mutationFn: (body) =>
      sendForJson({ method: "POST", path: "token" in body ? "/v1/session/token" : "/v1/session", body }),
    onSuccess: (session) => {
      // Other tabs hear of it.
      putText(localStorage, userKey, session.user.id)
      const before = queryClient.getQueryData(sessionQuery.queryKey)
      // What the page of somebody else still holds and sends is not this user's.
      if (before !== undefined && before.user.id !== session.user.id) return location.reload()
      queryClient.setQueryData(sessionQuery.queryKey, session)
      // Whoever asked for the key goes away with this, so what was refused meanwhile is read again here.
      if (sessionEnd.hasEnded()) void queryClient.invalidateQueries()
      sessionResumed()
    },
  })
}
