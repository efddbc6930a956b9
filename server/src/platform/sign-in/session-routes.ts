/** Sessions of browsers: sign in, who am I, sign out, see and end the others. */
import type { FastifyReply, FastifyRequest } from "fastify"
import { teamIds } from "../../access/can.ts"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { type Route, route } from "../../http/route.ts"
import { requireOwnPage, type SessionCookie } from "../../http/session-cookie.ts"
import { keyOf } from "../../http/principal.ts"
import type { Limits } from "../../limits.ts"
import { findAccount } from "../../storage/catalog/accounts/accounts.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { listProjects } from "../../storage/catalog/accounts/projects.ts"
import type { SessionRecord } from "../../storage/catalog/accounts/sessions.ts"
import { deleted } from "../../wire/platform/account.ts"
import {
  currentSession,
  type CurrentSession,
  sessionList,
  sessionParams,
  signInBody,
  signInLink,
  signInTokenBody,
} from "../../wire/platform/session.ts"
import { toWireUser } from "../account-routes.ts"
import { FailedSignIns, mostSignInBytes } from "./failed-sign-ins.ts"
import { toWireProject } from "../project-list-routes.ts"
import type { Sessions, SignedIn, SignInRequest } from "./sessions.ts"

export interface SessionDependencies {
  database: CatalogDatabase
  sessions: Sessions
  cookie: SessionCookie
  limits: Pick<Limits, "sign_in_failures_per_minute" | "session_total_ms">
}

const shared = { dialect: "openai", tag: "Sessions" } as const
const mostProjects = 100

export function sessionRoutes({ database, sessions, cookie, limits }: SessionDependencies): Route[] {
  const failures = new FailedSignIns(limits.sign_in_failures_per_minute)

  /** A browser has one session: the one it came with ends. */
  async function signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    begin: (from: SignInRequest) => Promise<SignedIn>,
  ) {
    requireOwnPage(request)
    const { principal, secret, record } = await failures.attempt(request.ip, () =>
      begin({ userAgent: request.headers["user-agent"] ?? "", requestId: request.id }),
    )
    const before = await sessionOf(request)
    if (before !== null) await sessions.end(before.id, null, principal)
    cookie.set(request, reply, secret, limits.session_total_ms)
    return describe(principal, record)
  }

  /** The session that decides what the request may do; null: a key does. */
  async function sessionOf(request: FastifyRequest): Promise<SessionRecord | null> {
    const secret = keyOf(request.headers) === null ? cookie.read(request) : null
    return secret === null ? null : sessions.find(secret)
  }

  async function describe(principal: Principal, session: SessionRecord | null): Promise<CurrentSession> {
    const account = await findAccount(database, principal.userId)
    if (account === null) throw new HeddleError("not_found", `no user with id ${principal.userId}`)
    const projects = await listProjects(database, {
      entityIds: teamIds(principal),
      query: null,
      afterId: null,
      limit: mostProjects,
    })
    return {
      object: "session.current",
      user: toWireUser(account),
      session: session === null ? null : sessions.toWire(session, session.id),
      projects: projects.map(toWireProject),
    }
  }

  return [
    route({
      ...shared,
      access: "public",
      maximumBodyBytes: mostSignInBytes,
      method: "POST",
      path: "/v1/session",
      summary: "Sign a browser in with an API key; the answer sets its cookie",
      schemas: { body: signInBody },
      refusals: ["401", "403", "429"],
      response: currentSession,
      handle: async ({ body, request, reply }) =>
        signIn(request, reply, (from) => sessions.signInWithKey(body.api_key, from)),
    }),
    route({
      ...shared,
      access: "public",
      maximumBodyBytes: mostSignInBytes,
      method: "POST",
      path: "/v1/session/token",
      summary: "Sign a browser in with the token of a sign-in link, which is good for one time",
      schemas: { body: signInTokenBody },
      refusals: ["401", "403", "429"],
      response: currentSession,
      handle: async ({ body, request, reply }) =>
        signIn(request, reply, (from) => sessions.signInWithToken(body.token, from)),
    }),
    route({
      ...shared,
      method: "GET",
      path: "/v1/session",
      access: { right: "read", of: "account", ingest: true },
      summary: "Who asks: the user, the session, and the projects that may be opened",
      schemas: {},
      response: currentSession,
      handle: async ({ principal, request }) => describe(principal, await sessionOf(request)),
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/v1/session",
      access: { right: "read", of: "account" },
      summary: "Sign this browser out",
      schemas: {},
      refusals: ["404"],
      response: deleted,
      handle: async ({ request, reply, principal }) => {
        const session = await sessionOf(request)
        if (session === null) throw new HeddleError("not_found", "this request has no session; it came with a key")
        await sessions.end(session.id, principal.userId, principal)
        cookie.clear(request, reply)
        return { id: session.id, deleted: true }
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/v1/sessions",
      access: { right: "read", of: "account" },
      summary: "Browsers that are signed in: your own, of an administrator everybody's",
      schemas: {},
      response: sessionList,
      handle: async ({ principal, request }) => {
        const current = await sessionOf(request)
        const records = await sessions.list(principal.isAdmin ? null : principal.userId)
        return { object: "list", data: records.map((record) => sessions.toWire(record, current?.id ?? null)) }
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/v1/sessions/:session_id",
      access: { right: "manage", of: "account" },
      summary: "Sign another browser out at once",
      schemas: { params: sessionParams },
      response: deleted,
      handle: async ({ params, principal }) => {
        const id = params.session_id
        const isEnded = await sessions.end(id, principal.isAdmin ? null : principal.userId, principal)
        if (!isEnded) throw new HeddleError("not_found", `no live session "${id}" that you may end`)
        return { id, deleted: true }
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/sign-in-links",
      access: { right: "manage", of: "account" },
      summary: "Make a link that signs a browser in once, with the right of the key that asks",
      schemas: {},
      response: signInLink,
      handle: async ({ principal, request }) => {
        // A session that made links would outlive its own end.
        if ((await sessionOf(request)) !== null) {
          throw new HeddleError("forbidden", "a sign-in link is made with an API key, not from a browser's session")
        }
        const { token, expiresAt } = await sessions.makeToken(principal)
        return { object: "sign_in_link", token, path: signInPath(token), expires_at: expiresAt.toISOString() }
      },
    }),
  ]
}

/** The token is behind the #, which browsers keep to themselves: it comes into no log. */
export function signInPath(token: string): string {
  return `/login#token=${token}`
}
