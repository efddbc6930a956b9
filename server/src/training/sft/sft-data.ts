/** Fetches an SFT job's rows (training-api 2.5, `training_data_url`). The result is a blob. */
import { teamIds } from "../../access/can.ts"
import { invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import type { BlobStore } from "../../storage/blobs/blob-store.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { findFileAt, listEntries } from "../../storage/catalog/artifacts/artifact-entries.ts"
import { findNamedArtifact } from "../../storage/catalog/artifacts/artifacts.ts"
import { findProject } from "../../storage/catalog/accounts/projects.ts"
import { findUpload } from "../../storage/catalog/files/uploads.ts"
import { FetchError } from "../../outbound/guarded-request.ts"
import { fetchData, type FetchLimits } from "./fetch-data.ts"
import type { FetchPolicy } from "../../outbound/public-address.ts"

export interface SftSources {
  database: CatalogDatabase
  blobs: BlobStore
  fetchPolicy: FetchPolicy
  fetchLimits: FetchLimits
}

/**
 * Returns the SHA-256 of the blob that holds the rows; the caller lets go of it. `ownHost` is how the client reached us.
 * @throws {HeddleError} 422 on `training_data_url`.
 */
export async function sftData(
  sources: SftSources,
  principal: Principal,
  address: string,
  ownHost: string,
): Promise<string> {
  const uploadId = uploadIdOf(address, ownHost)
  if (uploadId !== null) return uploadedData(sources, principal, uploadId, address)
  const named = artifactAddress.exec(address)?.groups
  if (named !== undefined) return artifactData(sources, principal, named, address)
  if (address.startsWith("wandb-artifact:")) {
    throw fault(`"${address}" is no address of an artifact: wandb-artifact:///ENTITY/PROJECT/NAME:VERSION`)
  }
  if (!URL.canParse(address) || new URL(address).protocol !== "https:") {
    throw fault(`"${address}" is neither the id of a file uploaded to /v1/files, nor an artifact, nor an https address`)
  }
  return fetchedData(sources, new URL(address))
}

const artifactAddress =
  /^wandb-artifact:\/{2,3}(?<entity>[^/:]+)\/(?<project>[^/:]+)\/(?<collection>[^/:]+)(?::(?<alias>[^/:]+))?$/

const fileId = /^(?:heddle-file:\/\/\/)?(?:file-)?([0-9a-f-]{36})$/i
const filePath = /\/v1\/files\/(?:file-)?([0-9a-f-]{36})(?:\/content)?$/i

function uploadIdOf(address: string, ownHost: string): string | null {
  const id = fileId.exec(address)?.[1]
  if (id !== undefined) return id
  if (!URL.canParse(address)) return null
  const url = new URL(address)
  // A default port is written by some and left out by others.
  const ownUrl = URL.parse(`${url.protocol}//${ownHost}`)
  return url.host === ownUrl?.host ? (filePath.exec(url.pathname)?.[1] ?? null) : null
}

async function uploadedData(sources: SftSources, principal: Principal, id: string, address: string): Promise<string> {
  const upload = await findUpload(sources.database, teamIds(principal), id)
  if (upload === null || !(await sources.blobs.hold(upload.sha256)))
    throw fault(`there is no uploaded file "${address}"; upload one with POST /v1/files`)
  return upload.sha256
}

/** training-api 2.5: the file of this name, else of that, else the only one with rows. */
async function artifactData(
  { database, blobs }: SftSources,
  principal: Principal,
  { entity = "", project = "", collection = "", alias = "latest" }: Record<string, string | undefined>,
  address: string,
): Promise<string> {
  const owner = principal.entities.find(({ name }) => name === entity)
  const projectId = owner === undefined ? null : await findProject(database, owner.id, project)
  const found = projectId === null ? null : await findNamedArtifact(database, projectId, { collection, alias })
  if (found === null) {
    throw fault(`there is no artifact "${address}" here; log it, or upload the file to /v1/files and give its id`)
  }
  const entries = await listEntries(database, found.artifact.id, {
    paths: null,
    filesOnly: true,
    after: null,
    limit: mostEntries,
  })
  const paths = entries.map(({ path }) => path)
  const lines = paths.filter((path) => path.endsWith(".jsonl"))
  const path = usualNames.find((name) => paths.includes(name)) ?? lines[0]
  if (path === undefined || (lines.length > 1 && !usualNames.includes(path))) {
    throw fault(`"${address}" has ${lines.length} files that end in .jsonl; name the one to train on train.jsonl`)
  }
  const file = await findFileAt(database, found.artifact.id, path)
  if (file === null || !(await blobs.hold(file.sha256))) throw fault(`the file "${path}" of "${address}" was deleted`)
  return file.sha256
}

const usualNames = ["train.jsonl", "trajectories.jsonl"]
/** More than any artifact of rows has. */
const mostEntries = 10_000

async function fetchedData({ blobs, fetchPolicy, fetchLimits }: SftSources, url: URL): Promise<string> {
  try {
    const blob = await blobs.put(fetchData(url, fetchPolicy, fetchLimits))
    return blob.sha256
  } catch (error) {
    if (error instanceof FetchError) throw fault(`"${url.href}" could not be fetched: ${error.message}`)
    throw error
  }
}

function fault(message: string) {
  return invalid(["body", "training_data_url"], message)
}
