/** `/files/resolve_url` and the addresses that it gives. */
import { HeddleError } from "../../errors.ts"
import { baseAddress } from "../../http/base-address.ts"
import { type Route, route } from "../../http/route.ts"
import type { Principal } from "../../http/principal.ts"
import { isContentDigest } from "../../json/digests.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { findProjectFiles } from "../../storage/catalog/objects/project-files.ts"
import { downloadParams, fileUrls, fileUrlsBody, projectFileContent } from "../../wire/objects/project-file.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { SignedAddresses } from "../../access/signed-addresses.ts"
import { existingProject } from "../../access/project-access.ts"
import { readRefs } from "../refs/ref-values.ts"
import { type Ref, tryParseRef } from "../refs/refs.ts"
import type { LinkedFile } from "./file-links.ts"
import { sendProjectFile } from "./project-file-routes.ts"

const shared = { dialect: "reason", tag: "Project files" } as const
const mostUris = 1000
/** Objects that are read at once: each may be megabytes. */
const objectsAtOnce = 16
const downloadPath = "/files/download"

export function fileLinkRoutes(dependencies: StoreDependencies): Route[] {
  const { database, fileLinks } = dependencies
  const addresses = new SignedAddresses(database)
  return [
    route({
      ...shared,
      method: "POST",
      path: "/files/resolve_url",
      access: { right: "read", of: "project body.project_id" },
      summary: "Addresses under which files can be fetched without a key for a quarter of an hour",
      schemas: { body: fileUrlsBody },
      response: fileUrls,
      handle: async ({ body, principal, request }) => {
        if (body.uris.length > mostUris) {
          throw new HeddleError("invalid_request", `${body.uris.length} uris; resolve at most ${mostUris} at once`)
        }
        const project = await existingProject(database, principal, body.project_id)
        const files = await filesOf(dependencies, principal, project.id, body.uris)
        const endsAt = fileLinks.endOf(Date.now())
        const base = `${baseAddress(request, /\/files\/resolve_url\/?$/)}${downloadPath}`
        return {
          download_urls: files.map(
            (file) => `${base}/${fileLinks.tokenOf({ ...file, apiKeyId: principal.apiKeyId }, endsAt)}`,
          ),
          expires_at: new Date(endsAt).toISOString(),
        }
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: `${downloadPath}/:token`,
      access: "public",
      summary: "Fetch a file at an address that /files/resolve_url gave",
      schemas: { params: downloadParams },
      response: projectFileContent,
      answerTypes: ["application/octet-stream"],
      isUncompressed: true,
      handle: async ({ params, reply }) => {
        const { projectId, digest, apiKeyId } = fileLinks.linkOf(params.token, Date.now())
        await addresses.require({ apiKeyId, projectId }, { right: "read" }, "resolve the file again")
        reply
          .header("content-security-policy", "sandbox")
          // A cache between would answer after the address has ended.
          .header("cache-control", "private, no-store")
        return sendProjectFile(dependencies, projectId, digest, reply)
      },
    }),
  ]
}

/** In the order of `uris`. @throws {HeddleError} `not_found` when the content of one was never stored. */
async function filesOf(
  dependencies: StoreDependencies,
  principal: Principal,
  projectId: string,
  uris: readonly string[],
): Promise<LinkedFile[]> {
  const files: LinkedFile[] = []
  for (let at = 0; at < uris.length; at += objectsAtOnce) {
    files.push(...(await namedFiles(dependencies, principal, projectId, uris.slice(at, at + objectsAtOnce))))
  }
  await checkStored(dependencies.database, files, uris)
  return files
}

/** A file is named by its digest, or by the ref of an object that holds it, such as the SDK's `Content`. */
async function namedFiles(
  dependencies: StoreDependencies,
  principal: Principal,
  projectId: string,
  uris: readonly string[],
): Promise<LinkedFile[]> {
  const named = uris.map((uri) => ({ uri, ref: isContentDigest(uri) ? null : objectRef(uri) }))
  const refs = named.flatMap(({ ref }) => (ref === null ? [] : [ref]))
  const values = await readRefs(dependencies, principal, refs)
  const valueOf = new Map(refs.map((ref, index) => [ref, values[index] ?? null]))
  const files: LinkedFile[] = []
  for (const { uri, ref } of named) {
    // `readRefs` has looked every project up, so the catalog is not asked again.
    const project = ref === null ? null : await existingProject(dependencies.database, principal, ref.project, "read")
    const digest = ref === null ? uri : digestIn(uri, valueOf.get(ref) ?? null)
    files.push({ projectId: project?.id ?? projectId, digest })
  }
  return files
}

async function checkStored(
  database: CatalogDatabase,
  files: readonly LinkedFile[],
  uris: readonly string[],
): Promise<void> {
  const stored = new Map<string, ReadonlyMap<string, unknown>>()
  for (const [projectId, ofProject] of Map.groupBy(files, (file) => file.projectId)) {
    const digests = [...new Set(ofProject.map(({ digest }) => digest))]
    stored.set(projectId, await findProjectFiles(database, projectId, digests))
  }
  const missing = files.findIndex(({ projectId, digest }) => stored.get(projectId)?.has(digest) !== true)
  if (missing >= 0) throw new HeddleError("not_found", `File ${uris[missing]} not found`)
}

function objectRef(uri: string): Ref {
  const ref = tryParseRef(uri)
  if (ref?.kind === "object") return ref
  throw new HeddleError(
    "value_error",
    `"${uri}" names no file of this server; give the file's digest, or the ref of an object that holds it`,
  )
}

/** The file `content`, or the only one. */
function digestIn(uri: string, text: string | null): string {
  const value: unknown = text === null ? null : JSON.parse(text)
  const files: unknown = isJsonObject(value) ? value["files"] : null
  const all = isJsonObject(files) ? Object.entries(files) : []
  const digest = all.find(([name]) => name === "content")?.[1] ?? (all.length === 1 ? all[0]?.[1] : undefined)
  if (typeof digest === "string") return digest
  throw new HeddleError("value_error", `"${uri}" holds ${all.length} files and none is called content`)
}
