/** Objects and their versions: evaluation-store-objects 3. Clients send more fields than these; they are ignored. */
import { z } from "zod"
import { boundedList, keyList } from "../bounded-list.ts"
import { listRange } from "../queries/list-range.ts"
import { orDefault } from "../or-default.ts"
import { mostSortKeys } from "../queries/query.ts"

const strings = z.array(z.string())
const flag = z.boolean().nullish()

export const objectCreateBody = z.object({
  obj: z.object({
    project_id: z.string(),
    object_id: z.string(),
    val: z.unknown(),
    builtin_object_class: z.string().nullish(),
    /** The older name of `builtin_object_class`. */
    set_base_object_class: z.string().nullish(),
    expected_digest: z.string().nullish(),
    expected_latest: z.string().nullable().optional(),
  }),
})

export const objectCreated = z.object({ digest: z.string(), object_id: z.string() })

export const objectVersion = z.object({
  project_id: z.string(),
  object_id: z.string(),
  created_at: z.iso.datetime(),
  deleted_at: z.null(),
  digest: z.string(),
  version_index: z.int(),
  is_latest: z.union([z.literal(0), z.literal(1)]),
  kind: z.enum(["object", "op"]),
  base_object_class: z.string().nullable(),
  leaf_object_class: z.string().nullable(),
  val: z.unknown(),
  wb_user_id: z.string(),
  size_bytes: z.int().nullable(),
  tags: strings.nullable(),
  aliases: strings.nullable(),
})

export const objectReadBody = z.object({
  project_id: z.string(),
  object_id: z.string(),
  /** A digest, `latest`, `v<index>` or an alias. */
  digest: z.string(),
  metadata_only: flag,
  include_tags_and_aliases: flag,
})

export const objectRead = z.object({ obj: objectVersion })

export const objectQueryBody = z.object({
  project_id: z.string(),
  filter: z
    .object({
      base_object_classes: keyList.nullish(),
      exclude_base_object_classes: keyList.nullish(),
      leaf_object_classes: keyList.nullish(),
      object_ids: keyList.nullish(),
      is_op: flag,
      latest_only: flag,
      tags: keyList.nullish(),
      aliases: keyList.nullish(),
    })
    .nullish(),
  ...listRange,
  /** Takes `object_id` and `created_at`; other fields are ignored. */
  sort_by: boundedList(
    z.object({ field: z.string(), direction: orDefault(z.enum(["asc", "desc"]), "asc") }),
    mostSortKeys,
  ).nullish(),
  metadata_only: flag,
  include_storage_size: flag,
  include_tags_and_aliases: flag,
})

export const objectList = z.object({ objs: z.array(objectVersion) })

export const objectDeleteBody = z.object({
  project_id: z.string(),
  object_id: z.string(),
  /** As in `objectReadBody`; null: every version. */
  digests: strings.nullish(),
})

export const objectsDeleted = z.object({
  num_deleted: z.int(),
  deleted_versions: z.array(
    z.object({
      digest: z.string(),
      base_object_class: z.string().nullable(),
      leaf_object_class: z.string().nullable(),
    }),
  ),
})
