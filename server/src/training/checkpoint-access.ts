/** Which checkpoint the path of a route names. */
import { HeddleError } from "../errors.ts"
import { listCheckpoints } from "../storage/catalog/checkpoints.ts"
import type { ModelRecord } from "../storage/catalog/models.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"

/** `named`: a number, or `latest`. @throws {HeddleError} `not_found`: the model has no checkpoint any more. */
export async function stepNamed(database: CatalogDatabase, model: ModelRecord, named: string): Promise<number> {
  if (named !== "latest") return Number(named)
  const [latest] = await listCheckpoints(database, model.id, { afterStep: null, order: "desc", limit: 1 })
  if (latest === undefined) throw new HeddleError("not_found", `every checkpoint of "${model.name}" was deleted`)
  return latest.step
}

export function noSuchStep({ name, lastStep }: ModelRecord, step: number): HeddleError {
  const reason = step > lastStep ? `its newest step so far is ${lastStep}` : "it was deleted"
  return new HeddleError("not_found", `no step ${step} of the model "${name}": ${reason}`)
}
