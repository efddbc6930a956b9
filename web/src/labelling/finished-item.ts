/** An item as it is sent: its labels, each with what was suggested where somebody could see that, and a note. */
import { answerOf, type Draft, draftText } from "./label-draft.ts"
import type { LabelField } from "./label-fields.ts"
import type { Item, NewEntry } from "./label-session.ts"
import { newId } from "./new-id.ts"
import type { GivenLabels } from "./suggestions.ts"

export function labelledItem(
  item: Item,
  fields: readonly LabelField[],
  draft: Draft,
  given: GivenLabels | null,
): NewEntry {
  const labels = fields.flatMap((field) => {
    const answer = answerOf(field, draft)
    if (answer.kind !== "value") return []
    const suggestion = given?.suggestions[field.name]
    return {
      feedbackId: newId(),
      field: field.name,
      ref: field.ref,
      value: answer.value,
      suggestion: suggestion === undefined ? null : { value: suggestion.value, feedback_id: suggestion.feedbackId },
    }
  })
  const text = draftText(fields, draft)
  return { item, state: "completed", draft, labels, note: noteOf(draft.note), text: text === "" ? "labelled" : text }
}

export function skippedItem(item: Item, draft: Draft, reason: string): NewEntry {
  const words = reason.trim()
  return {
    item,
    state: "skipped",
    draft,
    labels: [],
    note: words === "" ? null : noteOf(`Skipped: ${words}`),
    text: words === "" ? "skipped" : `skipped: ${words}`,
  }
}

function noteOf(note: string): NewEntry["note"] {
  return note.trim() === "" ? null : { feedbackId: newId(), text: note.trim() }
}
