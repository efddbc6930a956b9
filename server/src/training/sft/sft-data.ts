/** Where an SFT job's rows come from: training-api 2.5, `training_data_url`. The result is a blob. */
import { invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import type { BlobStore } from "../../storage/blobs/blob-store.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { findUpload } from "../../storage/catalog/uploads.ts"
import { FetchError } from "../../outbound/guarded-request.ts"
import { fetchData, type FetchLimits } from "./fetch-data.ts"
import { entityIdsOf } from "../model-access.ts"
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
  if (/^wandb-artifact:\/{2,3}/.test(address)) {
    throw fault(`there is no artifact "${address}" here; upload the file to /v1/files and give its id`)
  }
  if (!URL.canParse(address) || new URL(address).protocol !== "https:") {
    throw fault(`"${address}" is neither the id of a file uploaded to /v1/files nor an https address`)
  }
  return fetchedData(sources, new URL(address))
}

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
  const upload = await findUpload(sources.database, entityIdsOf(principal), id)
  if (upload === null || !(await sources.blobs.hold(upload.sha256)))
    throw fault(`there is no uploaded file "${address}"; upload one with POST /v1/files`)
  return upload.sha256
}

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
