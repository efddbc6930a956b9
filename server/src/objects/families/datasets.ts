/** `/v2/…/datasets`: evaluation-store-objects 2.1 and 7. A dataset is a table of rows under a name. */
import type { Principal } from "../../http/principal.ts"
import type { RouteContext } from "../../http/route.ts"
import { dataset } from "../../wire/objects/object-families.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { type PublishedVersion, publishValue } from "../object-create.ts"
import { runPayloadTask } from "../payload/run-payload-task.ts"
import { formatRef } from "../refs/refs.ts"
import { rowLimits, storeTable } from "../tables/table-write.ts"
import { datasetIdOf, datasetTask } from "./dataset-task.ts"
import { describedFields, type ObjectFamily, textOr } from "./family.ts"

export const datasets: ObjectFamily = {
  name: "datasets",
  noun: "a dataset",
  tag: "Datasets",
  selection: { kind: "object", baseObjectClass: "Dataset" },
  hasSource: false,
  pagedOrder: [],
  response: dataset,
  show: (member) => JSON.stringify({ ...describedFields(member), rows: textOr(member.val["rows"], "") }),
}

type Sent = Pick<RouteContext, "principal" | "held"> & { body: Buffer }

export async function createDataset(
  dependencies: StoreDependencies,
  projectName: string,
  { body, principal, held }: Sent,
): Promise<PublishedVersion> {
  const input = { bytes: body, projectName, ...rowLimits(dependencies) }
  const options = { bytes: body.length }
  const { name, description, digest, ...table } = await runPayloadTask(
    dependencies,
    principal,
    datasetTask,
    input,
    options,
  )
  await storeTable(dependencies, held, table)
  return publishDataset(dependencies, principal, projectName, { name, description, table: digest })
}

/** `table`: the digest of its rows' table, which is stored. */
export async function publishDataset(
  dependencies: StoreDependencies,
  principal: Principal,
  projectName: string,
  {
    name,
    description,
    table,
  }: { name: string | null | undefined; description: string | null | undefined; table: string },
): Promise<PublishedVersion> {
  const objectId = datasetIdOf(name)
  const val = {
    _type: "Dataset",
    name: name ?? "Dataset",
    description: description ?? null,
    rows: formatRef(projectName, "table", table),
    _class_name: "Dataset",
    _bases: ["Object", "BaseModel"],
  }
  return publishValue(dependencies, principal, { project_id: projectName, object_id: objectId }, JSON.stringify(val))
}
