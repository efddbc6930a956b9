/**
 * What running a GraphQL document costs, known before any of it is run. A fragment counts each time it is spread, because
 * execution resolves its fields each time; the count itself visits it once, so it takes time linear in the document.
 */
import { type DocumentNode, Kind, type SelectionSetNode } from "graphql"
import { type Fragments, fragmentsOf, selectedFields } from "./graphql-selections.ts"

/** W&B clients send a few dozen, introspection of a whole schema sends 250. */
const maximumSelections = 500
/** Introspection needs 14. */
const maximumDepth = 20
/** Each field of a query or mutation asks the catalog at least once; W&B clients send one or two. */
const maximumRootFields = 20

interface Cost {
  /** Fields and spreads, with everything below them. */
  selections: number
  /** Fields inside fields. */
  depth: number
}

/** A sentence that names the limit that the document exceeds; null when it exceeds none. Fragments must not form a cycle. */
export function costFault(document: DocumentNode): string | null {
  const fragments = fragmentsOf(document)
  const costOf = costCounter(fragments)
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const { selections, depth } = costOf(definition.selectionSet)
    if (selections > maximumSelections) return `the document selects more than ${maximumSelections} fields${wayOut}`
    if (depth > maximumDepth) return `the document nests fields more than ${maximumDepth} levels deep`
    if (selectedFields([definition.selectionSet], fragments).size > maximumRootFields) {
      return `the ${definition.operation} has more than ${maximumRootFields} fields at its root${wayOut}`
    }
  }
  return null
}

const wayOut = "; send several requests"

function costCounter(fragments: Fragments): (selectionSet: SelectionSetNode) => Cost {
  const known = new Map<SelectionSetNode, Cost>()
  return function costOf(selectionSet) {
    const counted = known.get(selectionSet)
    if (counted !== undefined) return counted
    const cost: Cost = { selections: 0, depth: 0 }
    for (const node of selectionSet.selections) {
      const inner =
        node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value)?.selectionSet : node.selectionSet
      const below = inner === undefined ? { selections: 0, depth: 0 } : costOf(inner)
      cost.selections += 1 + below.selections
      cost.depth = Math.max(cost.depth, below.depth + (node.kind === Kind.FIELD ? 1 : 0))
    }
    known.set(selectionSet, cost)
    return cost
  }
}
