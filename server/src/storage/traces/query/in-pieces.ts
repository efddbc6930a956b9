/** What many ids name, read in pieces: all of it may be more than one result holds. */
import { nullWhenTooLarge } from "../store/store-failure.ts"

/**
 * What `read` gives for these ids, in their order: for all at once, or else, where that is too large, for each of so many
 * `parts` of them.
 */
export async function* inPieces<Id, Piece>(
  ids: readonly Id[],
  read: (some: readonly Id[]) => Promise<Piece>,
  parts = 2,
): AsyncGenerator<Piece> {
  const piece = await read(ids).catch((error: unknown) =>
    ids.length > 1 ? nullWhenTooLarge(error) : Promise.reject(error),
  )
  if (piece !== null) return yield piece
  const count = Math.ceil(ids.length / parts)
  for (let from = 0; from < ids.length; from += count) yield* inPieces(ids.slice(from, from + count), read, parts)
}
