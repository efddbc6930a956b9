/** Artifacts as the wandb SDK logs them: made by the requests that it sends. */
import { artifactDigest, contentsOf, manifestOf, md5 } from "../../../server/test/support/wandb-artifacts.ts"
import type { Heddle } from "./heddle.ts"

interface FilledArtifact {
  project: string
  run: string
  name: string
  type: string
  aliases: readonly string[]
  metadata?: object
  /** By which objects that the run logged name the version. */
  clientId?: string
  files: Readonly<Record<string, string | Buffer>>
  /** Addresses elsewhere, by path. */
  references?: Readonly<Record<string, string>>
}

const entity = "local"

export async function logArtifact(heddle: Heddle, artifact: FilledArtifact): Promise<void> {
  const { project, run, name, type, aliases, metadata = {}, clientId, files, references = {} } = artifact
  const referred = Object.entries(references).map(([path, ref]) => [path, { digest: ref, ref, size: 5 }] as const)
  const contents = contentsOf({ files: { ...files }, references: Object.fromEntries(referred) })
  const manifest = manifestOf(contents)
  const made = await ask<{ createArtifact: { artifact: { id: string; state: string } } }>(
    heddle,
    "mutation($input: CreateArtifactInput!) { createArtifact(input: $input) { artifact { id state } } }",
    {
      input: {
        entityName: entity,
        projectName: project,
        runName: run,
        artifactTypeName: type,
        artifactCollectionName: name,
        digest: artifactDigest(contents),
        digestAlgorithm: "MANIFEST_MD5",
        aliases: aliases.map((alias) => ({ artifactCollectionName: name, alias })),
        metadata: JSON.stringify(metadata),
        ...(clientId === undefined ? {} : { clientID: clientId }),
      },
    },
  )
  const { id } = made.createArtifact.artifact
  const uploads = await ask<{ createArtifactFiles: { files: { edges: { node: { uploadUrl: string } }[] } } }>(
    heddle,
    `mutation($specs: [CreateArtifactFileSpecInput!]!) { createArtifactFiles(input: { artifactFiles: $specs }) {
      files { edges { node { uploadUrl } } } } }`,
    { specs: Object.entries(files).map(([path, content]) => ({ artifactID: id, name: path, md5: md5(content) })) },
  )
  const addresses = uploads.createArtifactFiles.files.edges.map(({ node }) => node.uploadUrl)
  for (const [place, content] of Object.values(files).entries()) await put(addresses[place], content)
  const written = await ask<{ createArtifactManifest: { artifactManifest: { file: { uploadUrl: string } } } }>(
    heddle,
    `mutation($id: ID!, $digest: String!) { createArtifactManifest(input: { artifactID: $id, digest: $digest,
      name: "wandb_manifest.json", entityName: "x", projectName: "x", runName: "x", type: FULL }) {
      artifactManifest { file { uploadUrl } } } }`,
    { id, digest: md5(manifest) },
  )
  await put(written.createArtifactManifest.artifactManifest.file.uploadUrl, manifest)
  await ask(heddle, "mutation($id: ID!) { commitArtifact(input: { artifactID: $id }) { artifact { id } } }", { id })
}

/** Notes that the run used the version, such as `letters:v0`. */
export async function useArtifact(heddle: Heddle, project: string, run: string, version: string): Promise<void> {
  const found = await ask<{ project: { artifact: { id: string } } }>(
    heddle,
    `query($entity: String!, $project: String!, $version: String!) {
      project(name: $project, entityName: $entity) { artifact(name: $version) { id } } }`,
    { entity, project, version },
  )
  await ask(heddle, "mutation($input: UseArtifactInput!) { useArtifact(input: $input) { artifact { id } } }", {
    input: { artifactID: found.project.artifact.id, entityName: entity, projectName: project, runName: run },
  })
}

async function ask<Data>(heddle: Heddle, query: string, variables: object): Promise<Data> {
  const { data, errors } = await heddle.send<{ data: Data; errors?: object }>("POST", "/graphql", { query, variables })
  if (errors !== undefined) throw new Error(JSON.stringify(errors))
  return data
}

async function put(address: string | undefined, body: string | Buffer): Promise<void> {
  const answer = await fetch(address ?? "", {
    method: "PUT",
    body: typeof body === "string" ? body : new Uint8Array(body),
  })
  if (!answer.ok) throw new Error(`PUT ${address}: ${answer.status} ${await answer.text()}`)
}
