/**
 * A page far into a list that is in the order of time goes on from where a page before it ended: what comes before is not
 * looked for again. Calls that others add or delete meanwhile move none of its rows, so that who reads a list page after
 * page meets each call once. Whoever begins it meets what there is now, so each user goes on from their own pages alone. Lists
 * under other conditions than on the start are counted anew: where few calls meet them, all are sorted sooner than enough are
 * found from a moment on.
 */
import { currentTenant } from "../../../work/work-scope.ts"
import { keepRecent } from "../recently-used.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import { inlineParameters } from "../store/sql-literal.ts"
import type { TraceStore } from "../store/trace-store.ts"
import type { CallRow } from "./call-row-reads.ts"
import type { CallsSelection } from "./calls-selection.ts"
import type { Page } from "./scanned-calls.ts"

/** A moment in a list. */
interface Mark {
  /** How many calls of the list come before the first one that began at this moment. */
  before: number
  /** As the store reads it. */
  startedAt: string
  /** By `performance.now()`. */
  madeAt: number
}

/** To find so few calls once more costs nothing. */
const fewBefore = 200
/** A client that reads page after page asks for the next one within this time. */
const longestKeptMs = 60_000
const mostLists = 1_000
/** Pages of one list may be asked for side by side. */
const mostMarks = 16
/** A list is known by its statement; one that names thousands of values is not kept. */
const longestName = 16_384

/** A list that a user reads. */
interface List {
  /** Those of its last pages last. */
  marks: readonly Mark[]
}

/** By name; the most recently used list last. */
const lists = new WeakMap<TraceStore, Map<string, List>>()

export interface ContinuedPage {
  /** Of the list what is read. */
  selection: CallsSelection
  /** Where in that the page is. */
  page: Page
  /** Takes note of the rows of the page, in order and all of them. */
  ended: (rows: ReadRows) => void
}

/** The same page, counted from the last moment that is known to come before it. */
export function continuedPage(traces: TraceStore, selection: CallsSelection, page: Page): ContinuedPage {
  const whole = { selection, page, ended: () => undefined }
  if (selection.byTime === null || !selection.isByStart || page.limit === null) return whole
  const name = listName(selection)
  if (name.length > longestName) return whole
  const known = lists.getOrInsertComputed(traces, () => new Map<string, List>())
  // A first page asks for what there is now, and a small one leaves no mark.
  if (page.offset === 0 && page.limit <= fewBefore) {
    known.delete(name)
    return whole
  }
  const list = (page.offset === 0 ? undefined : known.get(name)) ?? { marks: [] }
  keepRecent(known, name, list, mostLists)
  const oldest = performance.now() - longestKeptMs
  const marks = list.marks.filter(({ madeAt }) => madeAt > oldest)
  const mark = marks.filter(({ before }) => before <= page.offset).toSorted((a, b) => b.before - a.before)[0]
  const skipped = mark?.before ?? 0
  return {
    selection: mark === undefined ? selection : begunFrom(selection, selection.byTime, mark.startedAt),
    page: { limit: page.limit, offset: page.offset - skipped },
    ended: ({ count, lastStart, beforeLastStart }) => {
      const before = page.offset + beforeLastStart
      // A page of one moment alone ends in none that another page ends in; a short one is the last.
      if (beforeLastStart === 0 || before < fewBefore || count < (page.limit as number)) return
      // Calls were deleted meanwhile, or the list was begun anew: it is counted otherwise now.
      if (known.get(name) !== list) return
      const startedAt = lastStart.slice(0, -1).replace("T", " ")
      const others = list.marks.filter((one) => one.before !== before)
      list.marks = [...others, { before, startedAt, madeAt: performance.now() }].slice(-mostMarks)
    },
  }
}

const listName = ({ projectId, where, order, parameters }: CallsSelection) =>
  `${projectId} ${currentTenant().userId} ${inlineParameters(`${where} order by ${order}`, parameters)}`

/** Rows of a page that were read so far. */
export class ReadRows {
  count = 0
  /** When the last of them began. */
  lastStart = ""
  /** How many of them began before that, in the order of the page. */
  beforeLastStart = 0

  add(rows: readonly Pick<CallRow, "started_at">[]): void {
    for (const { started_at } of rows) {
      if (started_at !== this.lastStart) {
        this.lastStart = started_at
        this.beforeLastStart = this.count
      }
      this.count += 1
    }
  }
}

/** Drops what is known of the lists of a project, whose calls were deleted. */
export function forgetPages(traces: TraceStore, projectId: string): void {
  const known = lists.get(traces)
  for (const name of known?.keys() ?? []) if (name.startsWith(projectId)) known?.delete(name)
}

function begunFrom(selection: CallsSelection, direction: "asc" | "desc", startedAt: string): CallsSelection {
  const own = new SqlParameters("g")
  const isBehind = `started_at ${direction === "asc" ? ">=" : "<="} ${own.bind(startedAt, "DateTime64(6, 'UTC')")}`
  return {
    ...selection,
    startedAt: selection.startedAt === null ? isBehind : `${selection.startedAt} and ${isBehind}`,
    condition: `${selection.condition} and ${isBehind}`,
    where: `${selection.where} and ${isBehind}`,
    parameters: { ...selection.parameters, ...own.values },
  }
}
