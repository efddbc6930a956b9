/**
 * Objects by which the server acts: it asks the models and addresses that they name, for a monitor of each new call. Whoever
 * publishes one decides what the server does, and so does whoever publishes a version after one, as its latest version is
 * what many names mean: evaluation-store-objects 3.1.
 */
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { leafClassAmong } from "../storage/catalog/objects/object-reads.ts"
import type { ObjectKind } from "../storage/catalog/objects/objects-schema.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { scopeAllows } from "../access/can.ts"
import type { ObjectClasses } from "./object-classes.ts"

const actingClasses = [
  "Monitor",
  "ClassifierMonitor",
  "Provider",
  "ProviderModel",
  "LLMStructuredCompletionModel",
  "LLMAsAJudgeScorer",
  "ActionSpec",
]

interface NamedVersion {
  projectId: string
  objectId: string
  kind: ObjectKind
  classes: ObjectClasses | null
}

/** @throws {HeddleError} `forbidden`: the server acts by such objects, and the key may only add what a program logs. */
export async function requireActingRight(
  database: CatalogDatabase,
  { scope }: Principal,
  { projectId, objectId, kind, classes }: NamedVersion,
): Promise<void> {
  if (scopeAllows(scope, { right: "write" })) return
  const own = actingClasses.find((name) => name === classes?.leaf || name === classes?.base)
  const acting = own ?? (await leafClassAmong(database, projectId, { objectId, kind }, actingClasses))
  if (acting === null) return
  throw new HeddleError(
    "forbidden",
    `this key has the scope ${scope}, which publishes no version of "${objectId}": it is of the class ${acting}, by which the server asks models; use a key of the scope all`,
  )
}
