/** `/v2/…/datasets`: evaluation-store-objects 2.1 and 7. A dataset is a table of rows under a name. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import type { TableRow } from "../../storage/traces/table-rows.ts"
import { dataset, type datasetCreateBody } from "../../wire/evaluation/object-families.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { checkObjectId } from "../objects/object-classes.ts"
import { type PublishedVersion, publishValue } from "../objects/object-create.ts"
import { projectForWrite } from "../project-access.ts"
import { refPrefix } from "../refs/refs.ts"
import type { TableRowReader } from "../tables/table-row-reader.ts"
import { storeTable } from "../tables/table-write.ts"
import { describedFields, type ObjectFamily, objectIdOf, textOr } from "./family.ts"

export const datasets: ObjectFamily = {
  name: "datasets",
  noun: "a dataset",
  tag: "Datasets",
  selection: { kind: "object", baseObjectClass: "Dataset" },
  hasSource: false,
  pagedOrder: [],
  shown: dataset,
  show: (member) => JSON.stringify({ ...describedFields(member), rows: textOr(member.val["rows"], "") }),
}

/** `reader`: took the rows. */
export async function createDataset(
  dependencies: EvaluationDependencies,
  principal: Principal,
  projectName: string,
  {
    name,
    description,
    rows,
    reader,
  }: Omit<z.output<typeof datasetCreateBody>, "rows"> & {
    rows: readonly TableRow[]
    reader: TableRowReader
  },
): Promise<PublishedVersion> {
  checkObjectId(datasetIdOf(name))
  const project = await projectForWrite(dependencies.database, principal, projectName)
  await reader.finish(rows)
  const table = await storeTable(dependencies.traces, project.id, rows)
  return publishDataset(dependencies, principal, projectName, { name, description, table })
}

/** The object's name of a dataset that a person called so. */
export function datasetIdOf(name: string | null | undefined): string {
  return name == null ? "Dataset" : objectIdOf(name)
}

/** `table`: the digest of its rows' table, which is stored. */
export async function publishDataset(
  dependencies: EvaluationDependencies,
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
    rows: `${refPrefix}${projectName}/table/${table}`,
    _class_name: "Dataset",
    _bases: ["Object", "BaseModel"],
  }
  return publishValue(dependencies, principal, { project_id: projectName, object_id: objectId }, JSON.stringify(val))
}
