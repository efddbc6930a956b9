/** Artifacts of the wandb client: collections, their versions and the files of one. */
import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { askGraphql } from "./graphql.ts"
import type { Connection } from "./run-list.ts"

interface OfProject {
  entity: string
  project: string
}

interface Alias {
  alias: string
  artifactCollection: { name: string }
}

export interface ArtifactVersion {
  /** Within its collection: "v3". */
  version: string
  createdAt: string
  size: number
  fileCount: number
  aliases: readonly string[]
}

type VersionNode = Omit<ArtifactVersion, "version" | "aliases"> & { aliases: Alias[] }
type VersionEdge = { version: string; node: VersionNode }

export interface ListedCollection {
  name: string
  type: string
  versions: number
  /** null: every version was deleted. */
  newest: ArtifactVersion | null
}

const versionFields = "version node { createdAt size fileCount aliases { alias artifactCollection { name } } }"
const versionOf = (collection: string, { version, node }: VersionEdge): ArtifactVersion => ({
  ...node,
  version,
  // A version may stand in several collections, with other aliases in each.
  aliases: node.aliases.filter((one) => one.artifactCollection.name === collection).map(({ alias }) => alias),
})

const collectionsText = `query($entity: String!, $project: String!, $first: Int, $after: String, $filters: JSONString) {
  project(name: $project, entityName: $entity) { artifactCollections(first: $first, after: $after, filters: $filters) {
    edges { node { name defaultArtifactType { name } artifacts(first: 1) { totalCount edges { ${versionFields} } } } }
    pageInfo { hasNextPage endCursor } } }
}`

interface CollectionNode {
  name: string
  defaultArtifactType: { name: string }
  artifacts: { totalCount: number; edges: VersionEdge[] }
}
type CollectionsAnswer = { project: { artifactCollections: Connection<CollectionNode> } | null }

/** Types of what the client makes by itself of each table that is logged: one for every run and name. */
export const clientsOwnTypes = ["run_table"]

/** Of one type, of all but those that the client makes by itself, or of all. */
export type ListedTypes = { only: string } | "usual" | "all"

function typeFilter(types: ListedTypes): string | null {
  if (types === "all") return null
  return JSON.stringify({ type: types === "usual" ? { $nin: clientsOwnTypes } : types.only })
}

/** By name, page after page. */
export function useArtifactCollections(of: OfProject, types: ListedTypes) {
  return useInfiniteQuery(
    infiniteQueryOptions<CollectionsAnswer, ApiError, ListedCollection[], unknown[], string | null>({
      queryKey: ["POST /graphql artifactCollections", of, types],
      initialPageParam: null,
      queryFn: ({ pageParam: after, signal }) =>
        askGraphql(collectionsText, { ...of, first: 50, after, filters: typeFilter(types) }, signal),
      getNextPageParam: ({ project }) => {
        const page = project?.artifactCollections.pageInfo
        return page?.hasNextPage ? page.endCursor : undefined
      },
      select: ({ pages }) =>
        pages.flatMap(({ project }) => project?.artifactCollections.edges.map(({ node }) => collectionOf(node)) ?? []),
    }),
  )
}

function collectionOf({ name, defaultArtifactType, artifacts }: CollectionNode): ListedCollection {
  const [newest] = artifacts.edges
  return {
    name,
    type: defaultArtifactType.name,
    versions: artifacts.totalCount,
    newest: newest === undefined ? null : versionOf(name, newest),
  }
}

const typesText = `query($entity: String!, $project: String!) {
  project(name: $project, entityName: $entity) { artifactTypes { edges { node { name } } } }
}`

/** Their names, sorted. */
export function useArtifactTypes(of: OfProject) {
  return useQuery(
    queryOptions<string[], ApiError>({
      queryKey: ["POST /graphql artifactTypes", of],
      queryFn: async ({ signal }) => {
        type Answer = { project: { artifactTypes: { edges: { node: { name: string } }[] } } | null }
        const { project } = await askGraphql<Answer>(typesText, of, signal)
        return (project?.artifactTypes.edges.map(({ node }) => node.name) ?? []).toSorted()
      },
    }),
  )
}

const versionsText = `query($entity: String!, $project: String!, $name: String!, $first: Int, $after: String) {
  project(name: $project, entityName: $entity) { artifactCollection(name: $name) {
    description defaultArtifactType { name }
    artifacts(first: $first, after: $after) { totalCount edges { ${versionFields} } pageInfo { hasNextPage endCursor } } } }
}`

interface VersionsAnswer {
  project: {
    artifactCollection: {
      description: string | null
      defaultArtifactType: { name: string }
      artifacts: {
        totalCount: number
        edges: VersionEdge[]
        pageInfo: { hasNextPage: boolean; endCursor: string | null }
      }
    } | null
  } | null
}

export interface CollectionVersions {
  type: string
  description: string | null
  count: number
  versions: readonly ArtifactVersion[]
}

/** The newest first, page after page. null: there is no such collection. */
export function useArtifactVersions(of: OfProject, name: string) {
  return useInfiniteQuery(
    infiniteQueryOptions<VersionsAnswer, ApiError, CollectionVersions | null, unknown[], string | null>({
      queryKey: ["POST /graphql artifactCollection", of, name],
      initialPageParam: null,
      queryFn: ({ pageParam: after, signal }) => askGraphql(versionsText, { ...of, name, first: 100, after }, signal),
      getNextPageParam: ({ project }) => {
        const page = project?.artifactCollection?.artifacts.pageInfo
        return page?.hasNextPage ? page.endCursor : undefined
      },
      select: ({ pages }) => {
        const found = pages.flatMap(({ project }) => project?.artifactCollection ?? [])
        const [first] = found
        if (first === undefined) return null
        return {
          type: first.defaultArtifactType.name,
          description: first.description,
          count: first.artifacts.totalCount,
          versions: found.flatMap(({ artifacts }) => artifacts.edges.map((edge) => versionOf(name, edge))),
        }
      },
    }),
  )
}

export interface NamedRun {
  name: string
  project: { name: string; entityName: string }
}

export interface ArtifactFacts {
  digest: string
  description: string | null
  /** JSON text. */
  metadata: string | null
  tags: readonly { name: string }[]
  ttlDurationSeconds: number
  /** null: a run that is gone or of another team, or none. */
  createdBy: Partial<NamedRun> | null
  usedBy: { edges: { node: NamedRun }[] }
}

const runFields = "name project { name entityName }"
const factsText = `query($entity: String!, $project: String!, $name: String!) {
  project(name: $project, entityName: $entity) { artifact(name: $name) {
    digest description metadata tags { name } ttlDurationSeconds
    createdBy { ... on Run { ${runFields} } } usedBy { edges { node { ${runFields} } } } } }
}`

/** `name` with its version, as `checkpoint:v3`. null: there is none. */
export function useArtifactFacts(of: OfProject, name: string) {
  return useQuery(
    queryOptions<ArtifactFacts | null, ApiError>({
      queryKey: ["POST /graphql artifact", of, name],
      queryFn: async ({ signal }) => {
        type Answer = { project: { artifact: ArtifactFacts | null } | null }
        return (await askGraphql<Answer>(factsText, { ...of, name }, signal)).project?.artifact ?? null
      },
      placeholderData: () => undefined,
    }),
  )
}

export interface ArtifactFile {
  name: string
  sizeBytes: number
  /** Where the server has it, below its root. */
  storagePath: string
  /** Of a reference the address that was logged. */
  url: string
}

const filesText = `query($entity: String!, $project: String!, $name: String!, $after: String) {
  project(name: $project, entityName: $entity) { artifact(name: $name) { files(first: 100, after: $after) {
    edges { node { name sizeBytes storagePath url } } pageInfo { hasNextPage endCursor } } } }
}`

type FilesAnswer = { project: { artifact: { files: Connection<ArtifactFile> } | null } | null }

/** By name, page after page. */
export function useArtifactFiles(of: OfProject, name: string) {
  return useInfiniteQuery(
    infiniteQueryOptions<FilesAnswer, ApiError, ArtifactFile[], unknown[], string | null>({
      queryKey: ["POST /graphql artifact files", of, name],
      initialPageParam: null,
      queryFn: ({ pageParam: after, signal }) => askGraphql(filesText, { ...of, name, after }, signal),
      getNextPageParam: ({ project }) => {
        const page = project?.artifact?.files.pageInfo
        return page?.hasNextPage ? page.endCursor : undefined
      },
      select: ({ pages }) =>
        pages.flatMap(({ project }) => project?.artifact?.files.edges.map(({ node }) => node) ?? []),
      placeholderData: () => undefined,
    }),
  )
}

/** An artifact that a run made or used. */
export interface RunArtifact {
  versionIndex: number
  size: number
  artifactType: { name: string }
  artifactSequence: { name: string; project: { name: string; entityName: string } }
}

const ofRunFields =
  "totalCount edges { node { versionIndex size artifactType { name } artifactSequence { name project { name entityName } } } }"
const ofRunText = `query($entity: String!, $project: String!, $run: String!) {
  project(name: $project, entityName: $entity) { run(name: $run) {
    outputArtifacts(first: 50) { ${ofRunFields} } inputArtifacts(first: 50) { ${ofRunFields} } } }
}`

interface SomeArtifacts {
  /** More may be there than are read. */
  totalCount: number
  edges: { node: RunArtifact }[]
}

export interface RunArtifacts {
  outputArtifacts: SomeArtifacts
  inputArtifacts: SomeArtifacts
}

/** `heardAt`: when the run was heard of last; with another time they are read again. */
export function useRunArtifacts(of: OfProject & { run: string }, heardAt: string) {
  return useQuery(
    queryOptions<RunArtifacts | null, ApiError>({
      queryKey: ["POST /graphql artifacts of a run", of, heardAt],
      queryFn: async ({ signal }) => {
        type Answer = { project: { run: RunArtifacts | null } | null }
        return (await askGraphql<Answer>(ofRunText, of, signal)).project?.run ?? null
      },
    }),
  )
}
