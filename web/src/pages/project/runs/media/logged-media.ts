/**
 * What `run.log` was given that is no number, as the wandb client writes it into a row: objects with a `_type`, whose contents are
 * files of the run (platform-wandb 6.1).
 */
import type { ArtifactPlace } from "../../../../api/runs/artifact-tables.ts"
import { isJsonObject } from "../../../../json/parsed-json.ts"
import { typeOfName } from "../../../../media/media-types.ts"

export interface LoggedFile {
  path: string
  /** "" where the program gave none. */
  caption: string
  /** "" for one that no browser shows. */
  type: string
}

export interface LoggedHistogram {
  /** Ends of the bins, ascending: one more than there are counts. */
  bins: readonly number[]
  counts: readonly number[]
}

export type LoggedMedia =
  | { kind: "files"; files: readonly LoggedFile[] }
  | { kind: "table"; path: string; bytes: number; artifact: ArtifactPlace | null }
  | { kind: "histogram"; histogram: LoggedHistogram }

export type MediaKind = LoggedMedia["kind"]

const tables: ReadonlySet<string> = new Set(["table-file", "incremental-table-file"])

/** Of a name by the `_type` of its objects, before they are read. */
export function kindOfType(type: string): MediaKind {
  if (type === "histogram") return "histogram"
  return tables.has(type) ? "table" : "files"
}

/** null: it is none, or says nothing that could be shown. */
export function loggedMedia(value: unknown): LoggedMedia | null {
  if (!isJsonObject(value) || typeof value["_type"] !== "string") return null
  const kind = kindOfType(value["_type"])
  if (kind === "histogram") {
    const histogram = histogramOf(value)
    return histogram === null ? null : { kind, histogram }
  }
  if (kind === "table") {
    const { path, size } = value
    if (typeof path !== "string") return null
    return { kind, path, bytes: Number(size ?? 0), artifact: artifactPlaceOf(value["artifact_path"]) }
  }
  const files = filesOf(value)
  return files.length === 0 ? null : { kind, files }
}

/** `wandb-client-artifact://<id>/<path>`; null: it is none, or of another server. */
function artifactPlaceOf(address: unknown): ArtifactPlace | null {
  const [, clientId, path] =
    (typeof address === "string" && /^wandb-client-artifact:\/\/([a-z0-9]+)\/(.+)$/.exec(address)) || []
  return clientId === undefined || path === undefined ? null : { clientId, path }
}

/** The file of a cell of a table, as the table's artifact has it; null: the cell is none. */
export function fileOfCell(value: unknown): LoggedFile | null {
  const media = loggedMedia(value)
  return media?.kind === "files" ? (media.files[0] ?? null) : null
}

/** One file has its `path`; several stand as `filenames` with `captions`, or as a list under the name of their type. */
function filesOf(value: Record<string, unknown>): LoggedFile[] {
  const { _type: type, path, caption, filenames, captions } = value
  if (isPath(path)) return [fileOf(path, caption)]
  const said: unknown[] = Array.isArray(captions) ? captions : []
  if (Array.isArray(filenames)) {
    return filenames.flatMap((one: unknown, place) => (isPath(one) ? [fileOf(one, said[place])] : []))
  }
  const inner: unknown = typeof type === "string" ? value[type] : null
  if (!Array.isArray(inner)) return []
  return inner.flatMap((one: unknown, place) => {
    if (!isJsonObject(one) || !isPath(one["path"])) return []
    return [fileOf(one["path"], one["caption"] ?? said[place])]
  })
}

/** Others are addresses of files that stand in artifacts. */
const isPath = (value: unknown): value is string => typeof value === "string" && !value.includes("://")

function fileOf(path: string, caption: unknown): LoggedFile {
  return { path, caption: typeof caption === "string" ? caption : "", type: typeOfName(path) }
}

function histogramOf({ values, bins }: Record<string, unknown>): LoggedHistogram | null {
  if (!isNumbers(values) || !isNumbers(bins) || values.length === 0) return null
  return bins.length === values.length + 1 ? { bins, counts: values } : null
}

const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((one) => typeof one === "number")
