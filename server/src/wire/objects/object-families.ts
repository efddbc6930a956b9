/**
 * `/v2/{entity}/{project}/…`: datasets, models, ops, scorers and evaluations, which are objects of
 * a class (evaluation-store-objects 2.1, 2.2, 7). Clients send more fields than these; they are ignored.
 */
import { z } from "zod"
import { textList } from "../bounded-list.ts"
import { nameList } from "../queries/list-query.ts"
import { orDefault } from "../or-default.ts"

export const familyParams = z.object({ entity: z.string(), project: z.string() })

export const familyObjectParams = familyParams.extend({ object_id: z.string() })

/** `digest`: a content digest, `latest`, `v<index>` or an alias. */
export const familyVersionParams = familyObjectParams.extend({ digest: z.string() })

/** Absent or empty: every version. */
export const familyDeleteQuery = z.object({ digests: nameList })

export const familyDeleted = z.object({ num_deleted: z.int() })

const created = z.object({ digest: z.string(), object_id: z.string(), version_index: z.int() })

const publishedVersion = created.extend({ created_at: z.iso.datetime() })

const described = publishedVersion.extend({ name: z.string(), description: z.string().nullable() })

const text = z.string().nullish()
const attributes = z.record(z.string(), z.unknown())

export const datasetCreateBody = z.object({
  name: text,
  description: text,
  rows: z.array(z.record(z.string(), z.unknown())),
})
export const datasetCreated = created
/** `rows` is the ref of a table. */
export const dataset = described.extend({ rows: z.string() })

export const modelCreateBody = z.object({
  name: z.string(),
  description: text,
  source_code: z.string(),
  attributes: attributes.nullish(),
})
export const modelCreated = created.extend({ model_ref: z.string() })
export const model = described.extend({ source_code: z.string(), attributes: attributes.nullable() })

export const opCreateBody = z.object({ name: text, source_code: text })
export const opCreated = created
export const op = publishedVersion.extend({ code: z.string() })

export const scorerCreateBody = z.object({ name: z.string(), description: text, op_source_code: z.string() })
export const scorerCreated = created.extend({ scorer: z.string() })
export const scorer = described.extend({ score_op: z.string() })

export const evaluationCreateBody = z.object({
  name: z.string(),
  dataset: z.string(),
  description: text,
  scorers: textList.nullish(),
  trials: orDefault(z.int(), 1),
  evaluation_name: text,
  eval_attributes: attributes.nullish(),
})
export const evaluationCreated = created.extend({ evaluation_ref: z.string() })
export const evaluation = described.extend({
  dataset: z.string(),
  scorers: z.array(z.string()),
  trials: z.int(),
  evaluation_name: z.string().nullable(),
  evaluate_op: z.string().nullable(),
  predict_and_score_op: z.string().nullable(),
  summarize_op: z.string().nullable(),
})
