/** Why requests did not get in: for a person who waits for a client's first call. */
import type { RefusedRequests } from "../http/requests/refused-requests.ts"
import { type Route, route } from "../http/route.ts"
import { refusedRequestList } from "../wire/platform/refused-request.ts"

export function refusedRequestRoutes(refused: RefusedRequests): Route[] {
  return [
    route({
      dialect: "openai",
      tag: "Service",
      method: "GET",
      path: "/v1/refused-requests",
      access: { right: "read", of: "account" },
      summary: "Requests refused lately, newest first: your own, and to an administrator those without a known key too",
      schemas: {},
      response: refusedRequestList,
      handle: async ({ principal }) => ({
        object: "list",
        data: refused.of(principal.userId, principal.isAdmin).map((one) => ({
          id: one.requestId,
          object: "refused_request",
          time: one.time.toISOString(),
          method: one.method,
          path: one.path,
          status: one.status,
          code: one.code,
          message: one.message,
          user_agent: one.userAgent,
          is_authenticated: one.userId !== null,
        })),
      }),
    }),
  ]
}
