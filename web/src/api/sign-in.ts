/** Signing in: `POST /v1/session`, `POST /v1/session/token`. */
import type { CurrentSession } from "@heddle/server/wire/platform/session.ts"
import { useMutation } from "@tanstack/react-query"
import type { ApiError } from "./api-error.ts"
import { sendForJson } from "./client.ts"
import { noteSignIn } from "./last-user.ts"
import { queryClient } from "./queries.ts"
import { sessionQuery, sessionRenewed } from "./session.ts"

/** Credentials for signing in: a key, or the token of a link. */
export type SignIn = { api_key: string } | { token: string }

export function useSignIn() {
  return useMutation<CurrentSession, ApiError, SignIn>({
    mutationFn: (body) =>
      sendForJson({ method: "POST", path: "token" in body ? "/v1/session/token" : "/v1/session", body }),
    onSuccess: (session) => {
      noteSignIn(session.user.id)
      const before = queryClient.getQueryData(sessionQuery.queryKey)
      // What the page of somebody else still holds and sends is not this user's.
      if (before !== undefined && before.user.id !== session.user.id) return location.reload()
      queryClient.setQueryData(sessionQuery.queryKey, session)
      sessionRenewed()
    },
  })
}
