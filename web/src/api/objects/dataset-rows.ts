/** Changed rows of a dataset, as its next version: `/table/…`, `/obj/create`, `/dataset_sources/link`. */
import { useMutation } from "@tanstack/react-query"
import { type RefObject, useRef } from "react"
import { elementTexts, memberTexts } from "../../json/json-text.ts"
import { tableOfDataset } from "../../objects/dataset-table.ts"
import { ApiError } from "../api-error.ts"
import { send } from "../client.ts"
import { isConflict } from "../is-conflict.ts"
import { queryClient } from "../queries.ts"

interface AddedRow {
  projectId: string
  /** One that there is gets a new version, another is made. */
  dataset: string
  /** JSON of an object. */
  row: string
  /** The call that the row came from. */
  source: { callId: string; traceId: string } | null
}

interface Published {
  digest: string
}

/** Saved: its call may be told again, which nothing else needs. */
interface SavedRow extends Published {
  /** Digest of the row. */
  row: string
  /** Why the row does not name its call; null: it does, or there is none. */
  linkError: ApiError | null
}

/** A version with one more row. */
interface NextVersion {
  added: AddedRow
  before: Dataset | null
  table: Table
}

export function useAddDatasetRow() {
  /** Sent, and nobody knows whether it is published. */
  const unanswered = useRef<NextVersion | null>(null)
  return useMutation<SavedRow, ApiError, AddedRow>({
    mutationFn: async (added) => {
      const saved = await addRow(added, unanswered)
      return { ...saved, linkError: await linkRow(added, saved).then(() => null, asApiError) }
    },
    onSuccess: readListsAgain,
  })
}

/** Says once more which call a saved row came from. */
export function useLinkDatasetRow() {
  return useMutation<void, ApiError, { added: AddedRow; saved: SavedRow }>({
    mutationFn: ({ added, saved }) => linkRow(added, saved),
  })
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  throw error
}

const mostTries = 8

/** A row behind those that somebody else adds at the same time: it is tried again on what they published. */
async function addRow(
  added: AddedRow,
  unanswered: RefObject<NextVersion | null>,
): Promise<{ digest: string; row: string }> {
  const { projectId, dataset, row } = added
  const sent = unanswered.current
  unanswered.current = null
  const publish = async (next: NextVersion) => {
    try {
      return { digest: await createVersion(projectId, dataset, next.before, next.table), row: next.table.row }
    } catch (error) {
      if (error instanceof ApiError && error.isUnanswered) unanswered.current = next
      throw error
    }
  }
  // The same again is stored once; a row behind the newest version might be there twice.
  if (sent !== null && isSame(sent.added, added)) {
    try {
      return await publish(sent)
    } catch (error) {
      if (!isConflict(error)) throw error
      const digest = await versionWith(projectId, dataset, sent.table.digest)
      if (digest !== null) return { digest, row: sent.table.row }
    }
  }
  for (let attempt = 1; ; attempt += 1) {
    // One after the other: each try is made of what the one before found.
    /* oxlint-disable no-await-in-loop */
    const before = await readDatasetIfThere(projectId, dataset)
    const updates = `[{"append":{"row":${row}}}]`
    const table =
      before === null ? await createTable(projectId, row) : await updateTable(projectId, before.table, updates)
    try {
      return await publish({ added, before, table })
    } catch (error) {
      if (!isConflict(error) || attempt === mostTries) throw error
    }
    /* oxlint-enable no-await-in-loop */
  }
}

/** So many of the newest versions are looked through. */
const mostVersions = 50

/** The version that has this table; null: none of the newest. */
async function versionWith(projectId: string, dataset: string, table: string): Promise<string | null> {
  const query = {
    project_id: projectId,
    filter: { object_ids: [dataset] },
    sort_by: [{ field: "created_at", direction: "desc" }],
    limit: mostVersions,
  }
  const versions = elementTexts((await post("/objs/query", JSON.stringify(query))).get("objs") ?? "[]").map(memberTexts)
  const found = versions.find((version) => {
    const val = version.get("val")
    return val !== undefined && tableOfDataset(val, projectId) === table
  })
  return found === undefined ? null : (JSON.parse(found.get("digest") ?? '""') as string)
}

function isSame(one: AddedRow, other: AddedRow): boolean {
  return one.projectId === other.projectId && one.dataset === other.dataset && one.row === other.row
}

interface ChangedRows {
  projectId: string
  dataset: string
  /** Digest of the version that is changed, which must be the newest. */
  digest: string
  /** JSON, as `/table/update` takes it. */
  updates: string
}

/** Called also when the page was left meanwhile. */
interface Progress {
  /** Before the lists are read again. */
  onPublished: (digest: string) => Promise<void>
  /** Published, or why not. */
  onSettled: (error: ApiError | null) => void
}

export function useChangeDatasetRows({ onPublished, onSettled }: Progress) {
  return useMutation<Published, ApiError, ChangedRows>({
    mutationFn: async ({ projectId, dataset, digest, updates }) => {
      const before = await readDataset(projectId, dataset, digest)
      const table = await updateTable(projectId, before.table, updates)
      return { digest: await createVersion(projectId, dataset, before, table) }
    },
    onSuccess: async ({ digest }) => {
      await onPublished(digest)
      await readListsAgain()
    },
    onSettled: (_, error) => onSettled(error),
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

/** The newest version; null: there is none. */
async function readDatasetIfThere(projectId: string, dataset: string): Promise<Dataset | null> {
  try {
    return await readDataset(projectId, dataset, "latest")
  } catch (error) {
    if (error instanceof ApiError && error.isNotFound) return null
    throw error
  }
}

async function readDataset(projectId: string, dataset: string, version: string): Promise<Dataset> {
  const answer = await post("/obj/read", JSON.stringify({ project_id: projectId, object_id: dataset, digest: version }))
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

/**
 * The digest of the version, which follows `before`; null: there is none yet.
 * @throws {ApiError} {@link isConflict} when the newest version is another.
 */
async function createVersion(
  projectId: string,
  dataset: string,
  before: Dataset | null,
  { digest }: Table,
): Promise<string> {
  const text = JSON.stringify
  const val = withRows(before?.val ?? newDataset(dataset), text(`weave:///${projectId}/table/${digest}`))
  const place = `"project_id":${text(projectId)},"object_id":${text(dataset)}`
  const latest = text(before?.digest ?? null)
  const created = await post("/obj/create", `{"obj":{${place},"expected_latest":${latest},"val":${val}}}`).catch(
    (error: unknown) => {
      if (!isConflict(error)) throw error
      const { status, code, requestId } = error
      const message = `Another version of “${dataset}” was published meanwhile; make the changes there.`
      throw new ApiError(message, { status, code, requestId, cause: error })
    },
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

async function linkRow(
  { projectId, dataset, source }: AddedRow,
  saved: { digest: string; row: string },
): Promise<void> {
  if (source === null) return
  const body = {
    project_id: projectId,
    dataset_object_id: dataset,
    dataset_digest: saved.digest,
    links: [
      {
        row_digest: saved.row,
        sources: [{ source_kind: "call", source_id: source.callId, source_trace_id: source.traceId }],
      },
    ],
  }
  await post("/dataset_sources/link", JSON.stringify(body))
}
