/** A table that a run logged, as it stands in its artifact: there alone its pictures and sounds are files. */
import { queryOptions, useQuery } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { send } from "../client.ts"
import { askGraphql } from "./graphql.ts"

/** As the logged object names it: by the id that the client gave the version. */
export interface ArtifactPlace {
  clientId: string
  path: string
}

export interface ArtifactTable {
  text: string
  /** Places below the server's root, by path. */
  files: ReadonlyMap<string, string>
}

const idText = "query($clientId: ID!) { clientIDMapping(clientID: $clientId) { serverID } }"
/** The server lists no more at once; more pictures than that make no table that is read. */
const filesText = `query($id: ID!) { artifact(id: $id) { files(first: 5000) {
  edges { node { name sizeBytes storagePath url } } } } }`

interface FilesAnswer {
  artifact: {
    files: { edges: { node: { name: string; sizeBytes: number; storagePath: string; url: string } }[] }
  } | null
}

/** null: the artifact is not committed yet or was deleted, or the table is larger than `mostBytes`. */
export function useArtifactTable(place: ArtifactPlace | null, mostBytes: number) {
  return useQuery({
    ...queryOptions<ArtifactTable | null, ApiError>({
      queryKey: ["table of an artifact", place],
      queryFn: async ({ signal }) => {
        type Mapping = { clientIDMapping: { serverID: string } | null }
        const mapping = await askGraphql<Mapping>(idText, { clientId: place?.clientId }, signal)
        if (mapping.clientIDMapping === null) return null
        const found = await askGraphql<FilesAnswer>(filesText, { id: mapping.clientIDMapping.serverID }, signal)
        const nodes = found.artifact?.files.edges.map(({ node }) => node) ?? []
        const table = nodes.find(({ name }) => name === place?.path)
        if (table === undefined || table.sizeBytes > mostBytes) return null
        const response = await send({ method: "GET", path: `/${table.storagePath}`, signal })
        // A reference is an address elsewhere.
        const stored = nodes.filter(({ storagePath, url }) => url.endsWith(storagePath))
        return {
          text: await response.text(),
          files: new Map(stored.map(({ name, storagePath }) => [name, storagePath])),
        }
      },
    }),
    enabled: place !== null,
    staleTime: Infinity,
  })
}
