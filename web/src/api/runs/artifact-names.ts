/** Artifacts by their names. Apart from what else they have: the palette asks for them, and stands on every page. */
import { queryOptions, useQuery } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { askGraphql } from "./graphql.ts"

const text = `query($entity: String!, $project: String!, $filters: JSONString) {
  project(name: $project, entityName: $entity) { artifactCollections(first: 20, filters: $filters) {
    edges { node { name defaultArtifactType { name } } } } }
}`

interface NamedArtifact {
  name: string
  type: string
}

/** Of those that a filter leaves the first by name. */
export function useArtifactNames(of: { entity: string; project: string }, filters: object, enabled: boolean) {
  return useQuery({
    ...queryOptions<NamedArtifact[], ApiError>({
      queryKey: ["POST /graphql artifact names", of, filters],
      queryFn: async ({ signal }) => {
        type Edges = { node: { name: string; defaultArtifactType: { name: string } } }[]
        type Answer = { project: { artifactCollections: { edges: Edges } } | null }
        const { project } = await askGraphql<Answer>(text, { ...of, filters: JSON.stringify(filters) }, signal)
        const edges = project?.artifactCollections.edges ?? []
        return edges.map(({ node }) => ({ name: node.name, type: node.defaultArtifactType.name }))
      },
    }),
    enabled,
  })
}
