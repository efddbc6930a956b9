/** Rows left out of training data, counted by cause, with the first of each to look at. */
import type { DropCause, RowDrop } from "../../wire/training/train-from.ts"

const reasons: Record<DropCause, string> = {
  failed: "The call ended with an error.",
  unfinished: "The call has not ended, so that it has no answer yet.",
  deleted: "The call was deleted.",
  no_messages: "No messages were found in it: say with mapping.messages where they are.",
  not_text: "A message holds something else than text, which cannot be trained on.",
  no_answer: "No answer was found in it: say with mapping.answer where it is.",
  several_answers:
    "It has several answers, and labels and scores are about the call: say with mapping.answer which one.",
  not_labelled: "No annotator has completed it.",
  disputed: "Annotators differ about it: decide it in the queue.",
  no_score: "A field of its score has no number: give it values for texts, or missing for where there is none.",
  low_score: "Its score is less than min_score.",
  not_the_best: "Another answer to the same has a better score, or the same and came first.",
  repeated: "Another row says the same, or is the same answer.",
  tie: "Neither answer is better than the other.",
  between: "Of the answers to the same only the best and the worst are compared, and it is neither.",
  no_other: "There is no other answer to compare it with.",
  other_question: "The other answer is to another question, so that the two cannot be compared.",
  no_group: "The field to group by has no value.",
  no_tokens:
    "Its exact tokens are not known: it was not answered by a trainable model here, or its time in the ledger is over.",
  other_model: "Another model answered it than the one in training.",
  too_long: "It is longer than the model's longest sequence.",
}

const mostExamples = 3

export class DropTally {
  readonly #drops = new Map<DropCause, RowDrop>()

  add(cause: DropCause, id: string, detail: string): void {
    let drop = this.#drops.get(cause)
    if (drop === undefined) {
      drop = { cause, reason: reasons[cause], count: 0, examples: [] }
      this.#drops.set(cause, drop)
    }
    drop.count += 1
    if (drop.examples.length < mostExamples) drop.examples.push({ id, detail })
  }

  /** Those that came most often first. */
  list(): RowDrop[] {
    return [...this.#drops.values()].toSorted((one, two) => two.count - one.count)
  }
}
