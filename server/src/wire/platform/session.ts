/** Sessions of browsers and how one signs in. No public service has these calls; the shape is ours. */
import { z } from "zod"
import { listOf, user } from "./account.ts"
import { project } from "./project-list.ts"

export const signInBody = z.object({ api_key: z.string().max(512) })
export const signInTokenBody = z.object({ token: z.string().max(512) })

export const session = z.object({
  id: z.uuid(),
  object: z.literal("session"),
  username: z.string(),
  /** The browser's name for itself. */
  user_agent: z.string(),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  /** Whether this request comes with it. */
  is_current: z.boolean(),
})

/** Who asks, and what they may open. */
export const currentSession = z.object({
  object: z.literal("session.current"),
  user,
  /** null: the request came with a key. */
  session: session.nullable(),
  /** The ones used last, at most 100; `GET /v1/projects` lists all. */
  projects: z.array(project),
})

export const sessionList = listOf(session)
export const sessionParams = z.object({ session_id: z.string() })

export const signInLink = z.object({
  object: z.literal("sign_in_link"),
  /** Good for one session. */
  token: z.string(),
  /** Path of the page that uses it, from the server's root; the token follows the #, which browsers do not send. */
  path: z.string(),
  expires_at: z.iso.datetime(),
})

export type Session = z.infer<typeof session>
export type CurrentSession = z.infer<typeof currentSession>
export type SignInLink = z.infer<typeof signInLink>
