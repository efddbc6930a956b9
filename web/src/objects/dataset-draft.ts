/** Changes to the rows of a version of a dataset that are not published yet. */
import { keepText, keptText, type TextStore } from "../kept/kept-texts.ts"
import type { ChangeCounts } from "./row-diff.ts"

export interface DatasetDraft {
  /** By place in the table, from 0: the JSON text of the row as it is to be; null: it is removed. */
  rows: Readonly<Record<string, string | null>>
  /** JSON texts of rows for the end of the table. */
  added: readonly string[]
}

export const noChanges: DatasetDraft = { rows: {}, added: [] }
const kind = "dataset-draft"

/** `id`: names the version. Another tab has a draft of its own. */
export function keptDraft(store: TextStore, id: string): DatasetDraft {
  return JSON.parse(keptText(store, kind, id) ?? JSON.stringify(noChanges)) as DatasetDraft
}

/** Whether it is kept; false: the browser has no room for it. */
export function keepDraft(store: TextStore, id: string, draft: DatasetDraft): boolean {
  return keepText(store, kind, id, JSON.stringify(draft))
}

export function draftCounts({ rows, added }: DatasetDraft): ChangeCounts {
  const removed = Object.values(rows).filter((text) => text === null).length
  return { added: added.length, removed, changed: Object.keys(rows).length - removed }
}

/** The draft with another text of the row at `place`; null removes the row, undefined leaves it as it is in the table. */
export function withRow(draft: DatasetDraft, place: number, text: string | null | undefined): DatasetDraft {
  const others = Object.entries(draft.rows).filter(([other]) => other !== `${place}`)
  return { ...draft, rows: Object.fromEntries(text === undefined ? others : [...others, [`${place}`, text]]) }
}

/** The draft with another text of the added row `index`, or with one more; null forgets the row. */
export function withAdded(draft: DatasetDraft, index: number, text: string | null): DatasetDraft {
  return { ...draft, added: draft.added.toSpliced(index, 1, ...(text === null ? [] : [text])) }
}

/** What `/table/update` makes of it, as JSON. It begins at the end of the table, so that no change moves the place of another. */
export function updatesOf({ rows, added }: DatasetDraft): string {
  const changes = Object.entries(rows)
    .map(([place, text]) => ({ place: Number(place), text }))
    .toSorted((one, other) => other.place - one.place)
    .flatMap(({ place, text }) => [
      `{"pop":{"index":${place}}}`,
      ...(text === null ? [] : [`{"insert":{"index":${place},"row":${text}}}`]),
    ])
  return `[${[...changes, ...added.map((text) => `{"append":{"row":${text}}}`)].join(",")}]`
}
