/** Who may do what: the words for rights, roles and the scopes of keys, and how a route names what it needs. */
import { z } from "zod"

/** `manage` is deciding who may do what; `label` is giving feedback and working on items of annotation queues. */
export const right = z.enum(["read", "write", "label", "manage"])
export type Right = z.infer<typeof right>

/** Role of a member in a team, or in one project of it. */
export const memberRole = z.enum(["admin", "member", "viewer", "annotator"])
export type MemberRole = z.infer<typeof memberRole>

/** Only the account of a program is a `service_account`, and it is nothing else. */
export const role = z.enum([...memberRole.options, "service_account"])
export type Role = z.infer<typeof role>

/** What a key may be used for at most, whatever its user may do. */
export const keyScope = z.enum(["all", "ingest", "read", "label", "train"])
export type KeyScope = z.infer<typeof keyScope>

type Place = `path.${string}` | `query.${string}` | `body.${string}` | `header.${string}`

/**
 * What a route's right is about, and where a request names it. `account`: the caller's own; `teams`: each that the caller
 * is in, of which the answer has what the caller may read; `server`: nothing of a team.
 */
export type Subject =
  | "account"
  | "server"
  | "teams"
  | `${"project" | "team" | "model" | "training job" | "response" | "rollout" | "run" | "artifact" | "upload" | "refs" | "spans"} ${Place}`

/** Right that a route needs, and its subject. */
export interface RouteAccess {
  right: Right
  of: Subject
  /** A key of the scope `ingest` may call it: it adds what a program logs, and gives nothing back. */
  ingest?: true
  /** A key of the scope `train` may call it: it makes models and jobs, or asks models. */
  train?: true
}
