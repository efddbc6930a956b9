/** Row types of the evaluation store's objects and files. */
import type { Generated } from "kysely"
import type { NullableTimestamp, Timestamp } from "../column-types.ts"

export type ObjectKind = "object" | "op"

export interface ObjectVersionTable {
  project_id: string
  object_id: string
  digest: string
  kind: ObjectKind
  /** From 0, by first publication under this kind and name; never given twice. */
  version_index: number
  /** The last published live version of its kind and name. */
  is_latest: boolean
  base_object_class: string | null
  leaf_object_class: string | null
  /** JSON text as it came. */
  val: string
  size_bytes: number
  wb_user_id: string
  /** Order of publication; a version that comes back after its deletion gets a new number. */
  published: Generated<number>
  created_at: Timestamp
  deleted_at: NullableTimestamp
}

export interface ObjectTagTable {
  project_id: string
  object_id: string
  digest: string
  tag: string
}

export interface ObjectAliasTable {
  project_id: string
  object_id: string
  alias: string
  digest: string
}

/** A file of a project; its content lies in the blob store. */
export interface ProjectFileTable {
  project_id: string
  /** The content's digest as clients compute it (`json/digests.ts`). */
  digest: string
  sha256: string
  size_bytes: number
  created_at: Timestamp
}
