/** Rows of a table in slices, between which others have their turn on the thread that serves everybody. */
import { setImmediate as nextTurn } from "node:timers/promises"

/** Characters that are worked on at a time, which takes some ten milliseconds. */
const sliceCharacters = 256 * 1024

/** `columns`: cells that are made of each row, whatever it holds. */
export async function* rowSlices(
  batches: AsyncIterable<readonly string[]>,
  columns = 0,
): AsyncGenerator<readonly string[]> {
  for await (const rows of batches) {
    let from = 0
    let characters = 0
    for (const [index, row] of rows.entries()) {
      characters += row.length + columns
      if (characters < sliceCharacters && index < rows.length - 1) continue
      yield rows.slice(from, index + 1)
      await nextTurn()
      from = index + 1
      characters = 0
    }
  }
}
