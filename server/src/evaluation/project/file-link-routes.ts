/** `/files/resolve_url` and the addresses that it gives. */
import type { FastifyRequest } from "fastify"
import { HeddleError } from "../../errors.ts"
import { type Route, route } from "../../http/route.ts"
import type { Principal } from "../../http/principal.ts"
import { isContentDigest } from "../../json/digests.ts"
import { findProjectFile } from "../../storage/catalog/project-files.ts"
import { downloadParams, fileUrls, fileUrlsBody, projectFileContent } from "../../wire/evaluation/project-file.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { isMap } from "../objects/object-classes.ts"
import { projectForRead } from "../project-access.ts"
import { readRefs } from "../refs/ref-values.ts"
import { type Ref, tryParseRef } from "../refs/refs.ts"
import type { LinkedFile } from "./file-links.ts"
import { sendProjectFile } from "./project-file-routes.ts"

const shared = { dialect: "reason", tag: "Project files" } as const
const mostUris = 1000
const downloadPath = "/files/download"

export function fileLinkRoutes(dependencies: EvaluationDependencies): Route[] {
  const { database, fileLinks } = dependencies
  return [
    route({
      ...shared,
      method: "POST",
      path: "/files/resolve_url",
      access: "key",
      summary: "Addresses under which files can be fetched without a key for a quarter of an hour",
      schemas: { body: fileUrlsBody },
      response: fileUrls,
      handle: async ({ body, principal, request }) => {
        if (body.uris.length > mostUris) {
          throw new HeddleError("invalid_request", `${body.uris.length} uris; resolve at most ${mostUris} at once`)
        }
        const project = await projectForRead(database, principal, body.project_id)
        const files = await filesOf(dependencies, principal, project.id, body.uris)
        const endsAt = fileLinks.endOf(Date.now())
        const base = `${baseOf(request)}${downloadPath}`
        return {
          download_urls: files.map((file) => `${base}/${fileLinks.tokenOf(file, endsAt)}`),
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
      handle: async ({ params, reply }) => {
        const { projectId, digest } = fileLinks.fileOf(params.token, Date.now())
        // No browser may take a file for a page of this server.
        reply.header("content-disposition", "attachment").header("content-security-policy", "sandbox")
        return sendProjectFile(dependencies, projectId, digest, reply)
      },
    }),
  ]
}

/** As the client reached the server. Whoever lies about that gets useless addresses, and nobody else sees them. */
function baseOf(request: FastifyRequest): string {
  const forwarded = request.headers["x-forwarded-proto"]
  const scheme = forwarded === "https" ? "https" : request.protocol
  const prefix = request.originalUrl.split("?", 1)[0]?.replace(/\/files\/resolve_url\/?$/, "") ?? ""
  return `${scheme}://${request.host}${prefix}`
}

/** A file is named by its digest, or by the ref of an object that holds it, such as the SDK's `Content`. */
async function filesOf(
  dependencies: EvaluationDependencies,
  principal: Principal,
  projectId: string,
  uris: readonly string[],
): Promise<LinkedFile[]> {
  const named = uris.map((uri) => ({ uri, ref: isContentDigest(uri) ? null : objectRef(uri) }))
  const refs = named.flatMap(({ ref }) => (ref === null ? [] : [ref]))
  const values = await readRefs(dependencies, principal, refs)
  const valueOf = new Map(refs.map((ref, index) => [ref, values[index] ?? null]))
  return Promise.all(
    named.map(async ({ uri, ref }) => {
      const file =
        ref === null
          ? { projectId, digest: uri }
          : {
              projectId: (await projectForRead(dependencies.database, principal, ref.project)).id,
              digest: digestIn(uri, valueOf.get(ref) ?? null),
            }
      if ((await findProjectFile(dependencies.database, file.projectId, file.digest)) !== null) return file
      throw new HeddleError("not_found", `File ${uri} not found`)
    }),
  )
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
  const files: unknown = isMap(value) ? value["files"] : null
  const all = isMap(files) ? Object.entries(files) : []
  const digest = all.find(([name]) => name === "content")?.[1] ?? (all.length === 1 ? all[0]?.[1] : undefined)
  if (typeof digest === "string") return digest
  throw new HeddleError("value_error", `"${uri}" holds ${all.length} files and none is called content`)
}
