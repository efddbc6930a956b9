/** Which rows are selected: single ones, ranges, all of what is loaded. */

/** With the row taken in or out. */
export function toggled(selection: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(selection)
  if (!next.delete(id)) next.add(id)
  return next
}

/** With all of `ids` taken in. */
export function extended(selection: ReadonlySet<string>, ids: Iterable<string>): ReadonlySet<string> {
  return new Set([...selection, ...ids])
}
