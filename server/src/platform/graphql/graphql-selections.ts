/** Fields selected by a GraphQL selection set and its fragments. */
import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from "graphql"

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

export function fragmentsOf(document: DocumentNode): Fragments {
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
  return new Map(fragments.map((node) => [node.name.value, node]))
}

/**
 * The fields that are selected, by the name they have in the answer, each with all that is selected inside it.
 * A fragment is visited once, as in execution: a second spread of it would add nothing.
 */
export function selectedFields(
  selections: readonly SelectionSetNode[],
  fragments: Fragments,
): Map<string, SelectionSetNode[]> {
  const fields = new Map<string, SelectionSetNode[]>()
  const visited = new Set<SelectionSetNode>()
  const visit = (selectionSet: SelectionSetNode | undefined) => {
    if (selectionSet === undefined || visited.has(selectionSet)) return
    visited.add(selectionSet)
    for (const node of selectionSet.selections) {
      if (node.kind === Kind.FIELD) {
        const name = (node.alias ?? node.name).value
        const inner = fields.get(name) ?? []
        if (node.selectionSet !== undefined) inner.push(node.selectionSet)
        fields.set(name, inner)
      } else {
        visit(node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : fragments.get(node.name.value)?.selectionSet)
      }
    }
  }
  selections.forEach(visit)
  return fields
}

/** The names in the schema of the fields that a selection set selects, whatever they are called in the answer. */
export function rootFieldNames(selectionSet: SelectionSetNode, fragments: Fragments): Set<string> {
  const names = new Set<string>()
  const visited = new Set<SelectionSetNode>()
  const visit = (selections: SelectionSetNode | undefined) => {
    if (selections === undefined || visited.has(selections)) return
    visited.add(selections)
    for (const node of selections.selections) {
      if (node.kind === Kind.FIELD) names.add(node.name.value)
      else visit(node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : fragments.get(node.name.value)?.selectionSet)
    }
  }
  visit(selectionSet)
  return names
}
