/** Filters of the wandb client's public API over collections of artifacts: platform-wandb 10. */
import { sql } from "kysely"
import { type Condition, type FilterField, filterCondition, refusal, textField, timeField } from "../list-filter.ts"

const fields: Readonly<Record<string, FilterField>> = {
  name: textField(sql`artifact_collections.name`),
  type: textField(sql`artifact_collections.type`),
  created_at: timeField(sql`artifact_collections.created_at`),
  createdAt: timeField(sql`artifact_collections.created_at`),
}

/** @throws {HeddleError} `bad_query` for what is no filter of collections. */
export const collectionCondition = (filter: unknown): Condition => filterCondition(filter, fieldOf)

function fieldOf(name: string): FilterField {
  const own = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (own === undefined) throw refusal(`collections of artifacts have no field "${name}": name, type, created_at`)
  return own
}
