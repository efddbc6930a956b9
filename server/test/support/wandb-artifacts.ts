/** Logs and reads artifacts as the wandb client does: platform-wandb 9.2. */
import { createHash } from "node:crypto"
import type { EvaluationApp, EvaluationCaller } from "./evaluation-app.ts"
import { ask, dataOf, type GraphqlBody } from "./wandb-runs.ts"

export interface ArtifactNames {
  entity: string
  project: string
  collection: string
}

export interface ArtifactLog extends ArtifactNames {
  type?: string
  files: Record<string, string | Buffer>
  /** Entries whose contents are elsewhere: digest and address by path. */
  references?: Record<string, { digest: string; ref: string; size?: number }>
  aliases?: string[]
  /** Further members of the input of createArtifact. */
  input?: object
}

export const md5 = (content: string | Buffer, encoding: "base64" | "hex" = "base64") =>
  createHash("md5").update(content).digest(encoding)

export interface ManifestEntry {
  digest: string
  size?: number
  ref?: string
  birthArtifactID?: string
  local_path?: string
}

export function contentsOf({
  files,
  references = {},
}: Pick<ArtifactLog, "files" | "references">): Record<string, ManifestEntry> {
  const contents: Record<string, ManifestEntry> = {}
  for (const [path, content] of Object.entries(files)) {
    contents[path] = { digest: md5(content), size: Buffer.byteLength(content), local_path: `/home/somebody/${path}` }
  }
  return { ...contents, ...references }
}

/** The artifact's digest as the client computes it: platform-wandb 9.1. */
export function artifactDigest(contents: Record<string, ManifestEntry>): string {
  const paths = Object.keys(contents).toSorted((one, two) => Buffer.compare(Buffer.from(one), Buffer.from(two)))
  const lines = paths.map((path) => `${path}:${contents[path]?.digest}\n`)
  return md5(`wandb-artifact-manifest-v1\n${lines.join("")}`, "hex")
}

export function manifestOf(contents: Record<string, ManifestEntry>): string {
  const policy = { storagePolicy: "wandb-storage-policy-v1", storagePolicyConfig: { storageLayout: "V2" } }
  return JSON.stringify({ version: 1, ...policy, contents })
}

/** Sends a mutation; returns the answer's body. @throws {Error} with the server's message. */
export async function change(caller: EvaluationCaller, query: string, variables: object): Promise<GraphqlBody> {
  const body = await ask(caller, query, variables)
  if (body.errors !== undefined) throw new Error(body.errors[0]?.message)
  return body
}

export async function createArtifact(
  caller: EvaluationCaller,
  { entity, project, collection, type = "dataset", aliases = ["latest"], input = {} }: Omit<ArtifactLog, "files">,
  digest: string,
): Promise<{ id: string; state: string; artifactSequence: { latestArtifact: { id: string } | null } }> {
  const body = await change(
    caller,
    `mutation CreateArtifact($input: CreateArtifactInput!) {
      createArtifact(input: $input) { artifact { id state artifactSequence { latestArtifact { id } } } }
    }`,
    {
      input: {
        entityName: entity,
        projectName: project,
        artifactTypeName: type,
        artifactCollectionName: collection,
        digest,
        digestAlgorithm: "MANIFEST_MD5",
        aliases: aliases.map((alias) => ({ artifactCollectionName: collection, alias })),
        enableDigestDeduplication: true,
        somethingNewer: 1,
        ...input,
      },
    },
  )
  return (dataOf(body, "createArtifact") as { artifact: Awaited<ReturnType<typeof createArtifact>> }).artifact
}

export interface UploadNode {
  uploadUrl: string | null
  uploadHeaders: string[]
  storagePath: string
  artifact: { id: string }
  uploadMultipartUrls: { uploadID: string; uploadUrlParts: { partNumber: number; uploadUrl: string }[] } | null
}

export async function askForFiles(caller: EvaluationCaller, artifactFiles: object[]): Promise<UploadNode[]> {
  const body = await change(
    caller,
    `mutation CreateArtifactFiles($artifactFiles: [CreateArtifactFileSpecInput!]!, $storageLayout: ArtifactStorageLayout!) {
      createArtifactFiles(input: { artifactFiles: $artifactFiles, storageLayout: $storageLayout }) {
        files { edges { node { storagePath uploadUrl uploadHeaders artifact { id }
          uploadMultipartUrls { uploadID uploadUrlParts { partNumber uploadUrl } } } } }
      }
    }`,
    { artifactFiles, storageLayout: "V2" },
  )
  const { files } = dataOf(body, "createArtifactFiles") as { files: { edges: { node: UploadNode }[] } }
  return files.edges.map(({ node }) => node)
}

export async function manifestAddress(
  caller: EvaluationCaller,
  artifactID: string,
  manifest: string | Buffer,
  how: { type?: string; baseArtifactID?: string } = {},
): Promise<string> {
  const body = await change(
    caller,
    `mutation CreateArtifactManifest($artifactID: ID!, $digest: String!, $type: ArtifactManifestType!, $base: ID) {
      createArtifactManifest(input: { artifactID: $artifactID, baseArtifactID: $base, name: "wandb_manifest.json",
        digest: $digest, entityName: "x", projectName: "x", runName: "x", type: $type }) {
        artifactManifest { id file { id uploadUrl uploadHeaders } }
      }
    }`,
    { artifactID, digest: md5(manifest), type: how.type ?? "FULL", base: how.baseArtifactID ?? null },
  )
  const made = dataOf(body, "createArtifactManifest") as { artifactManifest: { file: { uploadUrl: string } } }
  return made.artifactManifest.file.uploadUrl
}

export async function put(opened: EvaluationApp, address: string, payload: string | Buffer, status = 200) {
  const answer = await opened.app.server.inject({ method: "PUT", url: new URL(address).pathname, payload })
  if (answer.statusCode !== status) throw new Error(`${answer.statusCode} ${answer.payload}`)
  return answer
}

export const fetchFrom = (opened: EvaluationApp, address: string, headers: Record<string, string> = {}) =>
  opened.app.server.inject({ method: "GET", url: new URL(address).pathname, headers })

export const commit = (caller: EvaluationCaller, artifactID: string) =>
  change(
    caller,
    "mutation CommitArtifact($artifactID: ID!) { commitArtifact(input: { artifactID: $artifactID }) { artifact { id digest versionIndex } } }",
    { artifactID },
  ).then((body) => (dataOf(body, "commitArtifact") as { artifact: { id: string; versionIndex: number } }).artifact)

/** Does everything that the client does to log an artifact; returns its id, and the files that were sent. */
export async function logArtifact(
  opened: EvaluationApp,
  caller: EvaluationCaller,
  log: ArtifactLog,
): Promise<{ id: string; state: string; sent: string[] }> {
  const logged = await sendArtifact(opened, caller, log)
  if (logged.state !== "COMMITTED") await commit(caller, logged.id)
  return logged
}

/** The same, but for the commit. */
export async function sendArtifact(
  opened: EvaluationApp,
  caller: EvaluationCaller,
  log: ArtifactLog,
): Promise<{ id: string; state: string; sent: string[] }> {
  const contents = contentsOf(log)
  const { id, state } = await createArtifact(caller, log, artifactDigest(contents))
  const sent: string[] = []
  if (state === "COMMITTED") return { id, state, sent }
  const paths = Object.keys(log.files)
  const specs = paths.map((name) => ({ artifactID: id, name, md5: contents[name]?.digest, mimetype: null }))
  const nodes = paths.length === 0 ? [] : await askForFiles(caller, specs)
  for (const [index, { uploadUrl, artifact }] of nodes.entries()) {
    const path = paths[index] ?? ""
    const entry = contents[path]
    if (entry !== undefined) entry.birthArtifactID = artifact.id
    if (uploadUrl === null) continue
    sent.push(path)
    await put(opened, uploadUrl, log.files[path] ?? "")
  }
  const manifest = manifestOf(contents)
  await put(opened, await manifestAddress(caller, id, manifest), manifest)
  return { id, state, sent }
}

/** Reads fields of the version `name`, which is `collection:alias`; null when there is none. */
export async function readArtifact(
  caller: EvaluationCaller,
  { entity, project }: Pick<ArtifactNames, "entity" | "project">,
  name: string,
  fields: string,
): Promise<Record<string, unknown> | null> {
  const body = await change(
    caller,
    `query($entity: String, $project: String, $name: String!) {
      project(name: $project, entityName: $entity) { artifactCollectionMembership(name: $name) { artifact { ${fields} } } }
    }`,
    { entity, project, name },
  )
  const project_ = dataOf(body, "project") as {
    artifactCollectionMembership: { artifact: Record<string, unknown> } | null
  } | null
  return project_?.artifactCollectionMembership?.artifact ?? null
}

export interface FileNode {
  name: string
  directUrl: string
  url: string
  md5: string
  sizeBytes: number
}

export async function filesOf(
  caller: EvaluationCaller,
  names: Pick<ArtifactNames, "entity" | "project">,
  name: string,
  given = "",
): Promise<FileNode[]> {
  const fields = `files${given} { edges { node { name: displayName directUrl url md5 sizeBytes } } }`
  const artifact = await readArtifact(caller, names, name, fields)
  if (artifact === null) throw new Error(`no version ${name}`)
  return (artifact["files"] as { edges: { node: FileNode }[] }).edges.map(({ node }) => node)
}
