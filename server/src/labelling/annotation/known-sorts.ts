import type { SortBy } from "../../wire/queries/query.ts"

export interface KnownSort<Field extends string> {
  field: Field
  direction: "asc" | "desc"
}

/** Those of the sorts that there is a field for; others are ignored (evaluation-store-objects 6.2). */
export function knownSorts<Field extends string>(
  sorts: readonly SortBy[] | null | undefined,
  fields: readonly Field[],
): KnownSort<Field>[] {
  return (sorts ?? []).flatMap(({ field, direction }) => {
    const known = fields.find((one) => one === field)
    return known === undefined ? [] : [{ field: known, direction }]
  })
}
