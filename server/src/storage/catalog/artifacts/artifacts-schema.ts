/** Row types of the artifacts of the wandb client. */
import type { ColumnType, Generated, GeneratedAlways } from "kysely"
import type { Timestamp } from "../column-types.ts"

type Texts = ColumnType<string[], string[] | undefined, string[]>

/** `sequence`: versions that were logged under its name; `portfolio`: versions of others, linked to it. */
export type CollectionKind = "sequence" | "portfolio"

export interface ArtifactCollectionTable {
  id: Generated<string>
  project_id: string
  kind: CollectionKind
  type: string
  name: string
  description: string | null
  tags: Texts
  /** Never used again, so it only grows. */
  next_version: Generated<number>
  created_at: Timestamp
  updated_at: Timestamp
}

export interface ArtifactTable {
  id: Generated<string>
  project_id: string
  /** The sequence it was logged to. */
  collection_id: string
  state: Generated<"pending" | "committed">
  /** null until it is committed. */
  version: number | null
  /** Hex MD5 over its paths and their digests: platform-wandb 9.1. */
  digest: string
  description: string | null
  /** JSON as the client wrote it. */
  metadata: string | null
  /** Until it is committed: what it is to be called then. */
  aliases: Texts
  tags: Texts
  /** null: it stays. */
  ttl_seconds: number | null
  ttl_is_inherited: Generated<boolean>
  history_step: number | null
  /** The run that made it first. */
  run_id: string | null
  user_id: string | null
  /** Shared by several processes that make the artifact together. */
  distributed_id: string | null
  /** The checkpoint that it is: of a model that has the collection's name. */
  checkpoint_id: string | null
  size_bytes: Generated<number>
  file_count: Generated<number>
  /** Size of its rows: paths, references and metadata. */
  stored_bytes: Generated<number>
  created_at: Timestamp
  updated_at: Timestamp
}

export interface ArtifactClientTable {
  client_id: string
  artifact_id: string
}

export type ManifestType = "FULL" | "INCREMENTAL" | "PATCH"

export interface ArtifactManifestTable {
  id: Generated<string>
  sequence: GeneratedAlways<number>
  artifact_id: string
  type: ManifestType
  base_id: string | null
  /** Base64 MD5 of the file. */
  digest: Generated<string>
  /** null: not stored yet. */
  sha256: string | null
  size_bytes: Generated<number>
}

export interface ArtifactEntryTable {
  artifact_id: string
  path: string
  project_id: string
  /** Base64 MD5; of a reference whatever its handler says. */
  digest: string
  size_bytes: number
  /** null: a file of ours. */
  ref: string | null
  /** JSON. */
  extra: string | null
}

/** A file's content, once in a project however many entries have it. */
export interface ArtifactContentTable {
  project_id: string
  /** Base64 MD5. */
  digest: string
  sha256: string
  size_bytes: number
  /** A checkpoint's file too, and counted for the quota there. */
  is_of_checkpoint: Generated<boolean>
  created_at: Timestamp
}

export interface ArtifactUploadTable {
  id: Generated<string>
  artifact_id: string
  digest: string
}

export interface ArtifactPartTable {
  upload_id: string
  /** From 1. */
  number: number
  /** Hex. */
  md5: string
  /** null: not stored yet. */
  sha256: string | null
  size_bytes: Generated<number>
}

export interface ArtifactMembershipTable {
  id: Generated<string>
  collection_id: string
  artifact_id: string
  version: number
  created_at: Timestamp
}

export interface ArtifactAliasTable {
  id: Generated<string>
  collection_id: string
  alias: string
  artifact_id: string
}

export interface ArtifactRunTable {
  artifact_id: string
  run_id: string
  kind: "output" | "input"
  created_at: Timestamp
}
