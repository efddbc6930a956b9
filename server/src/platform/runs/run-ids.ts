/** Opaque ids as GraphQL shows them. */
import { createHash } from "node:crypto"

type Kind =
  | "Run"
  | "RunAlert"
  | "RunFile"
  | "Artifact"
  | "ArtifactAlias"
  | "ArtifactCollection"
  | "ArtifactFile"
  | "ArtifactManifest"
  | "ArtifactMembership"
  | "ArtifactType"
  | "ArtifactUpload"
  | "Tag"

export function globalId(kind: Kind, id: string): string {
  return Buffer.from(`${kind}:${id}`).toString("base64")
}

/** null: no id of this kind. */
export function localId(kind: Kind, id: unknown): string | null {
  if (typeof id !== "string") return null
  const text = Buffer.from(id, "base64").toString("latin1")
  return text.startsWith(`${kind}:`) && globalId(kind, text.slice(kind.length + 1)) === id
    ? text.slice(kind.length + 1)
    : null
}

/** A number for a project, as the client wants one beside a run: it only sends it back, and it fits GraphQL's Int. */
export function projectNumber(projectId: string): string {
  return String(createHash("sha256").update(projectId).digest().readUInt32BE() >>> 1)
}

/** Cursor of a page that starts after `count` entries. */
export function cursorAt(count: number): string {
  return Buffer.from(`after:${count}`).toString("base64")
}

/** 0 for no cursor and for one that this server did not make. */
export function countBefore(cursor: string | null | undefined): number {
  const count = Number(/^after:(\d{1,15})$/.exec(Buffer.from(cursor ?? "", "base64").toString("latin1"))?.[1] ?? 0)
  return Number.isSafeInteger(count) ? count : 0
}
