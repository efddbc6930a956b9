/** Which words of two texts differ. */
import { diffArrays } from "diff"

export interface DiffPart {
  kind: "same" | "removed" | "added"
  text: string
}

/** Past this many words that differ, marking them helps nobody and would take long. */
const mostChanges = 800

/** The parts of both texts in order. Texts too different to be told apart by words are replaced as a whole. */
export function diffWords(before: string, after: string): DiffPart[] {
  const changes = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: mostChanges })
  if (changes === undefined) return joined([part("removed", before), part("added", after)])
  return joined(
    changes.map(({ value, removed, added }) => part(removed ? "removed" : added ? "added" : "same", value.join(""))),
  )
}

const part = (kind: DiffPart["kind"], text: string): DiffPart => ({ kind, text })

/** Words, and what stands between them; of languages without spaces too. */
function wordsOf(text: string): string[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "word" })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** Puts removed words before added ones; a blank between two changes belongs to both. */
function joined(parts: readonly DiffPart[]): DiffPart[] {
  const found: DiffPart[] = []
  let [removed, added] = ["", ""]
  const flush = () => {
    if (removed !== "") found.push(part("removed", removed))
    if (added !== "") found.push(part("added", added))
    ;[removed, added] = ["", ""]
  }
  for (const [index, { kind, text }] of parts.entries()) {
    if (kind === "removed") removed += text
    else if (kind === "added") added += text
    else if (removed + added !== "" && /^\s+$/.test(text) && index < parts.length - 1) {
      removed += text
      added += text
    } else if (text !== "") {
      flush()
      found.push(part("same", text))
    }
  }
  flush()
  return found
}
