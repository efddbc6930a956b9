/** What is changed of the rows of a version, kept in this tab until it is published. */
import { useState } from "react"
import type { ObjectVersion } from "../../../../api/objects/object-versions.ts"
import { compactJson } from "../../../../json/indented-json.ts"
import type { JsonText } from "../../../../json/json-text.ts"
import {
  type DatasetDraft,
  draftCounts,
  keepDraft,
  keptDraft,
  noChanges,
  withAdded,
  withRow,
} from "../../../../objects/dataset-draft.ts"
import type { ChangeCounts } from "../../../../objects/row-diff.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"

export type RowState = "changed" | "removed" | "added"

export interface DraftOfVersion {
  draft: DatasetDraft
  counts: ChangeCounts
  isEmpty: boolean
  /** false: the browser has no room for it, and it is gone when the page is loaded again. */
  isKept: boolean
  /** `place` from 0; rows that are added come after the `count` of the table. */
  stateAt: (place: number) => RowState | undefined
  /** JSON as the draft has it; undefined: as in the table. */
  textAt: (place: number) => JsonText | undefined
  /** `text`: without blanks. `stored`: the row in the table, which a text that says the same puts back; undefined for a row that is added. */
  put: (place: number, text: string, stored: JsonText | undefined) => void
  add: (text: string) => void
  /** A row that was added is forgotten. */
  remove: (place: number) => void
  putBack: (place: number) => void
  discard: () => void
}

/** `count`: rows of the table. */
export function useDatasetDraft(project: CurrentProject, version: ObjectVersion, count: number): DraftOfVersion {
  const id = `${project.id}/${version.object_id}:${version.digest}`
  const [draft, setDraft] = useState(() => keptDraft(sessionStorage, id))
  const [isKept, setKept] = useState(true)
  const change = (next: DatasetDraft) => {
    setDraft(next)
    setKept(keepDraft(sessionStorage, id, next))
  }
  const counts = draftCounts(draft)
  const addedAt = (place: number) => (place >= count ? place - count : null)
  return {
    draft,
    counts,
    isEmpty: counts.added + counts.changed + counts.removed === 0,
    isKept,
    stateAt: (place) => {
      if (place >= count) return "added"
      const text = draft.rows[place]
      return text === undefined ? undefined : text === null ? "removed" : "changed"
    },
    textAt: (place) => {
      const added = addedAt(place)
      return ((added === null ? draft.rows[place] : draft.added[added]) ?? undefined) as JsonText | undefined
    },
    put: (place, text, stored) => {
      const added = addedAt(place)
      if (added !== null) return change(withAdded(draft, added, text))
      const isSame = stored !== undefined && compactJson(stored) === text
      change(withRow(draft, place, isSame ? undefined : text))
    },
    add: (text) => change(withAdded(draft, draft.added.length, text)),
    remove: (place) => {
      const added = addedAt(place)
      change(added === null ? withRow(draft, place, null) : withAdded(draft, added, null))
    },
    putBack: (place) => change(withRow(draft, place, undefined)),
    discard: () => change(noChanges),
  }
}
