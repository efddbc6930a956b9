/** The columns of the list of feedback. */
import type { FeedbackRow } from "../../../../api/calls/feedback.ts"
import type { Call } from "../../../../api/calls/calls.ts"
import { callName } from "../../../../calls/call-names.ts"
import { giverName, marksOf } from "../../../../calls/call-summary.ts"
import type { Column } from "../../../../components/data-table/columns.ts"
import { ShortId } from "../../../../components/signs/figures.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { callIdOf, kindWord } from "./feedback-query.ts"
import styles from "./feedback.module.css"

interface ColumnContext {
  project: CurrentProject
  /** By id, as far as they are read. */
  calls: ReadonlyMap<string, Call>
  nameOf: (userId: string) => string
  isNarrow: boolean
}

export function feedbackColumns({ project, calls, nameOf, isNarrow }: ColumnContext): Column<FeedbackRow>[] {
  const time: Column<FeedbackRow> = {
    id: "time",
    title: "Time",
    width: isNarrow ? 84 : 112,
    cell: ({ created_at }) => <Time at={created_at} show="moment" />,
  }
  const value: Column<FeedbackRow> = {
    id: "value",
    title: "Value",
    width: isNarrow ? 120 : 240,
    grows: 3,
    cell: (row) => <Cut text={valueOf(row)} />,
  }
  const call: Column<FeedbackRow> = {
    id: "call",
    title: "Call",
    width: isNarrow ? 120 : 200,
    grows: 2,
    cell: (row) => <OfCall project={project} row={row} calls={calls} />,
  }
  const name: Column<FeedbackRow> = {
    id: "name",
    title: "Name",
    width: isNarrow ? 90 : 180,
    grows: 1,
    cell: (row) => <Cut text={nameIn(row) ?? (isNarrow ? kindWord(row) : "")} />,
  }
  if (isNarrow) return [time, name, value, call]
  return [
    time,
    { id: "kind", title: "Kind", width: 84, cell: kindWord },
    name,
    value,
    { id: "by", title: "By", width: 130, cell: (row) => <Cut text={personOf(row, nameOf)} /> },
    call,
  ]
}

function Cut({ text }: { text: string }) {
  return (
    <span className={styles.cut} title={text}>
      {text}
    </span>
  )
}

/** Of a scorer or question; null: it has none. */
function nameIn(row: FeedbackRow): string | null {
  const word = kindWord(row)
  if (word === "note" || word === "reaction") return null
  return giverName(row.feedback_type)
}

/** "yes", or each of several values with its name. */
function valueOf(row: FeedbackRow): string {
  const marks = marksOf(row)
  const own = nameIn(row)
  return marks
    .map(({ name, text }) => (marks.length === 1 ? text : `${name.replace(`${own}.`, "")} ${text}`))
    .join(", ")
}

function personOf({ creator, wb_user_id: id }: FeedbackRow, nameOf: (userId: string) => string): string {
  return creator ?? (id === null || id === "" ? "" : nameOf(id))
}

function OfCall({ project, row, calls }: Pick<ColumnContext, "project" | "calls"> & { row: FeedbackRow }) {
  const id = callIdOf(row)
  if (id === null) return <Cut text={row.weave_ref.replace(/^weave:\/\/\/[^/]+\/[^/]+\//, "")} />
  const call = calls.get(id)
  if (call === undefined) return <ShortId of={id} />
  return (
    <span className={styles.cut} title={callName(call)}>
      <TextLink
        isQuiet
        to="/$entity/$project/traces/$trace"
        params={{ ...project.params, trace: call.trace_id }}
        search={{ span: id, tab: "feedback" }}
      >
        {callName(call)}
      </TextLink>
    </span>
  )
}
