/**
 * What is changed of the rows of a version, kept in this tab until it is published. Drafts outlive their pages: one may be
 * published after its page was left.
 */
import { useSyncExternalStore } from "react"
import type { ApiError } from "../../../../api/api-error.ts"
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

/** null: there is none. */
type Publication = "running" | ApiError | null

export interface DraftOfVersion {
  draft: DatasetDraft
  counts: ChangeCounts
  isEmpty: boolean
  /** false: the browser has no room for it, and it is gone when the page is loaded again. */
  isKept: boolean
  /** It is on its way to the server, and not to be changed until it is there. */
  isPublishing: boolean
  /** Why it was not published the last time; null: it was not tried, or is tried again. */
  publishError: ApiError | null
  setPublication: (state: Publication) => void
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

const drafts = new Map<string, DatasetDraft>()
/** Those that the browser has no room for. */
const unkept = new Set<string>()
const publications = new Map<string, Publication>()
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function draftNow(id: string): DatasetDraft {
  const now = drafts.get(id) ?? keptDraft(sessionStorage, id)
  drafts.set(id, now)
  return now
}

function setDraft(id: string, draft: DatasetDraft): void {
  drafts.set(id, draft)
  if (keepDraft(sessionStorage, id, draft)) unkept.delete(id)
  else unkept.add(id)
  tellAll()
}

function setPublication(id: string, state: Publication): void {
  publications.set(id, state)
  tellAll()
}

function tellAll(): void {
  for (const listener of listeners) listener()
}

/** `count`: rows of the table. */
export function useDatasetDraft(project: CurrentProject, version: ObjectVersion, count: number): DraftOfVersion {
  const id = `${project.id}/${version.object_id}:${version.digest}`
  const draft = useSyncExternalStore(subscribe, () => draftNow(id))
  const isKept = useSyncExternalStore(subscribe, () => !unkept.has(id))
  const publication = useSyncExternalStore(subscribe, () => publications.get(id) ?? null)
  const change = (next: DatasetDraft) => setDraft(id, next)
  const counts = draftCounts(draft)
  const addedAt = (place: number) => (place >= count ? place - count : null)
  return {
    draft,
    counts,
    isEmpty: counts.added + counts.changed + counts.removed === 0,
    isKept,
    isPublishing: publication === "running",
    publishError: publication === "running" ? null : publication,
    setPublication: (state) => setPublication(id, state),
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
    discard: () => {
      setPublication(id, null)
      change(noChanges)
    },
  }
}
