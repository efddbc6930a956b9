/** Names, ids and digests in statements: a list of a client may be longer than one statement should hold. */

/** The time that ClickHouse takes to read a statement grows faster than the statement. */
export const mostNamed = 4096

/** All of them in order, {@link mostNamed} at a time. */
export function* namedAtOnce<Name>(all: readonly Name[]): Generator<Name[]> {
  for (let from = 0; from < all.length; from += mostNamed) yield all.slice(from, from + mostNamed)
}
