/** Changed rows of a dataset, as its next version: `/table/…`, `/obj/create`, `/dataset_sources/link`. */
import { useMutation } from "@tanstack/react-query"
import { elementTexts, memberTexts } from "../../json/json-text.ts"
import { tableOfDataset } from "../../objects/dataset-table.ts"
import { ApiError } from "../api-error.ts"
import { send } from "../client.ts"
import { queryClient } from "../queries.ts"

interface AddedRow {
  projectId: string
  /** One that there is gets a new version, another is made. */
  dataset: string
  isNew: boolean
  /** JSON of an object. */
  row: string
  /** The call that the row came from. */
  source: { callId: string; traceId: string } | null
}

interface Published {
  digest: string
}

export function useAddDatasetRow() {
  return useMutation<Published, ApiError, AddedRow>({
    mutationFn: async ({ projectId, dataset, isNew, row, source }) => {
      const before = isNew ? null : await readDataset(projectId, dataset)
      const updates = `[{"append":{"row":${row}}}]`
      const table =
        before === null ? await createTable(projectId, row) : await updateTable(projectId, before.table, updates)
      const digest = await createVersion(projectId, dataset, before?.val ?? newDataset(dataset), table)
      if (source !== null) await link(projectId, { dataset, digest, row: table.row }, source)
      return { digest }
    },
    onSuccess: readListsAgain,
  })
}

interface ChangedRows {
  projectId: string
  dataset: string
  /** Digest of the version that is changed, which must be the newest. */
  digest: string
  /** JSON, as `/table/update` takes it. */
  updates: string
}

export function useChangeDatasetRows() {
  return useMutation<Published, ApiError, ChangedRows>({
    mutationFn: async ({ projectId, dataset, digest, updates }) => {
      const newest = await readDataset(projectId, dataset)
      if (newest.digest !== digest) {
        throw new ApiError(`Another version of “${dataset}” was published meanwhile; make the changes there.`, {
          status: 409,
          code: "published_meanwhile",
        })
      }
      const table = await updateTable(projectId, newest.table, updates)
      return { digest: await createVersion(projectId, dataset, newest.val, table) }
    },
    onSuccess: readListsAgain,
  })
}

function readListsAgain() {
  return queryClient.invalidateQueries({ queryKey: ["POST /objs/query"] })
}

async function post(path: string, json: string): Promise<ReturnType<typeof memberTexts>> {
  const answer = await send({ method: "POST", path, json })
  return memberTexts(await answer.text())
}

interface Dataset {
  digest: string
  val: string
  table: string
}

/** The newest version. */
async function readDataset(projectId: string, dataset: string): Promise<Dataset> {
  const answer = await post(
    "/obj/read",
    JSON.stringify({ project_id: projectId, object_id: dataset, digest: "latest" }),
  )
  const object = memberTexts(answer.get("obj") ?? "{}")
  const val = object.get("val")
  const table = val === undefined ? null : tableOfDataset(val, projectId)
  if (val === undefined || table === null) {
    throw new ApiError(`“${dataset}” has no table of rows in this project; save under another name.`, {
      status: 409,
      code: "no_table",
    })
  }
  return { digest: JSON.parse(object.get("digest") ?? '""') as string, val, table }
}

interface Table {
  digest: string
  /** Digest of the row that was made last. */
  row: string
}

async function createTable(projectId: string, row: string): Promise<Table> {
  const answer = await post("/table/create", `{"table":{"project_id":${JSON.stringify(projectId)},"rows":[${row}]}}`)
  return tableOf(answer, "row_digests")
}

async function updateTable(projectId: string, base: string, updates: string): Promise<Table> {
  const answer = await post(
    "/table/update",
    `{"project_id":${JSON.stringify(projectId)},"base_digest":${JSON.stringify(base)},"updates":${updates}}`,
  )
  return tableOf(answer, "updated_row_digests")
}

function tableOf(answer: ReturnType<typeof memberTexts>, rows: string): Table {
  const last = elementTexts(answer.get(rows) ?? "[]").at(-1) ?? '""'
  return { digest: JSON.parse(answer.get("digest") ?? '""') as string, row: JSON.parse(last) as string }
}

/** The digest of the version. `val`: of the one before. */
async function createVersion(projectId: string, dataset: string, val: string, { digest }: Table): Promise<string> {
  const rows = JSON.stringify(`weave:///${projectId}/table/${digest}`)
  const created = await post(
    "/obj/create",
    `{"obj":{"project_id":${JSON.stringify(projectId)},"object_id":${JSON.stringify(dataset)},"val":${withRows(val, rows)}}}`,
  )
  return JSON.parse(created.get("digest") ?? '""') as string
}

function newDataset(name: string): string {
  const classes = { _type: "Dataset", _class_name: "Dataset", _bases: ["Object", "BaseModel"] }
  return JSON.stringify({ ...classes, name, description: null, rows: "" })
}

/** The value with another table; what else it holds stays as it was written. */
function withRows(val: string, rows: string): string {
  const members = [...memberTexts(val)].map(
    ([name, text]) => `${JSON.stringify(name)}:${name === "rows" ? rows : text}`,
  )
  return `{${members.join(",")}}`
}

function link(
  projectId: string,
  saved: { dataset: string; digest: string; row: string },
  source: NonNullable<AddedRow["source"]>,
) {
  const body = {
    project_id: projectId,
    dataset_object_id: saved.dataset,
    dataset_digest: saved.digest,
    links: [
      {
        row_digest: saved.row,
        sources: [{ source_kind: "call", source_id: source.callId, source_trace_id: source.traceId }],
      },
    ],
  }
  return post("/dataset_sources/link", JSON.stringify(body))
}
