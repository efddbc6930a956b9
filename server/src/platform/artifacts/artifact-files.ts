/** Files of a version with the addresses at which they are fetched: platform-wandb 9.4. */
import { type EntryRecord, listEntries } from "../../storage/catalog/artifacts/artifact-entries.ts"
import type { ArtifactRecord } from "../../storage/catalog/artifacts/artifacts.ts"
import type { RunContext } from "../runs/run-context.ts"
import { globalId } from "../runs/run-ids.ts"
import type { ArtifactLink } from "./artifact-links.ts"
import { type PageArguments, pageInfo } from "./artifact-pages.ts"

/** The client asks for so many addresses at a time. */
const mostFiles = 5000

interface FilesArguments extends PageArguments {
  names?: readonly string[] | null
}

export async function artifactFiles(
  context: RunContext,
  artifact: ArtifactRecord,
  { names, after, first }: FilesArguments,
) {
  const limit = Math.min(Math.max(first ?? 50, 1), mostFiles)
  const entries = await listEntries(context.database, artifact.id, {
    paths: names === null || names === undefined ? null : names,
    // The client downloads what is listed here, and asks the handlers of references for the others.
    filesOnly: false,
    after: after ? Buffer.from(after, "base64").toString("utf8") : null,
    limit: limit + 1,
  })
  const page = entries.slice(0, limit)
  const cursorOf = ({ path }: EntryRecord) => Buffer.from(path).toString("base64")
  const last = page.at(-1)
  return {
    totalCount: names === null || names === undefined ? artifact.file_count : page.length,
    edges: page.map((entry) => ({ node: describeFile(context, artifact, entry), cursor: cursorOf(entry) })),
    pageInfo: pageInfo(entries.length > page.length, last === undefined ? null : cursorOf(last)),
  }
}

function describeFile(context: RunContext, artifact: ArtifactRecord, { path, digest, size_bytes, ref }: EntryRecord) {
  return {
    __typename: "File",
    id: globalId("ArtifactFile", `${artifact.id}/${path}`),
    name: path,
    displayName: path,
    storagePath: storagePath(artifact, digest),
    url: () => ref ?? `${context.baseAddress}/${storagePath(artifact, digest)}`,
    directUrl: () => ref ?? fetchAddress(context, artifact, digest),
    sizeBytes: size_bytes,
    mimetype: "application/octet-stream",
    updatedAt: artifact.updated_at.toISOString(),
    digest,
    md5: digest,
  }
}

/** Path at which a client requests a file with its key. */
export function storagePath({ id, entity }: Pick<ArtifactRecord, "id" | "entity">, digest: string): string {
  const hex = Buffer.from(digest, "base64").toString("hex")
  const names = ["default", entity, globalId("Artifact", id), hex].map(encodeURIComponent)
  return `artifactsV2/${names.join("/")}`
}

function fetchAddress(context: RunContext, artifact: Addressed, what: string): string {
  return addressOf(context, artifact.project_id, { use: "fetch", id: artifact.id, what })
}

/** The manifest of a committed version, made when it is fetched. */
export function manifestAddress(context: RunContext, artifact: Addressed): string {
  return addressOf(context, artifact.project_id, { use: "contents", id: artifact.id, what: "" })
}

type Addressed = Pick<ArtifactRecord, "id" | "project_id">

/** An address of something of an artifact in this project. */
export function addressOf(
  { principal, artifactLinks, baseAddress }: RunContext,
  projectId: string,
  link: Pick<ArtifactLink, "use" | "id" | "what">,
): string {
  return baseAddress + artifactLinks.pathOf({ ...link, projectId, apiKeyId: principal.apiKeyId }, Date.now())
}
