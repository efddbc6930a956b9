/** The columns of a table of calls: those that every call has, and any path of its payloads. */
import { MessageSquareText } from "lucide-react"
import { type CSSProperties, memo } from "react"
import type { Call } from "../../../api/calls/calls.ts"
import { callDuration, callName, callStatus, exceptionLine } from "../../../calls/call-names.ts"
import type { CallFacts, FeedbackMark, TokenCount } from "../../../calls/call-summary.ts"
import { isDroppedPayload } from "../../../calls/dropped-payload.ts"
import { fieldOf } from "../../../calls/filter/filter-fields.ts"
import { matchSnippet, type SnippetPart } from "../../../calls/match-snippet.ts"
import { valueAt } from "../../../calls/payload-path.ts"
import { payloadPreview } from "../../../calls/payload-preview.ts"
import type { Column } from "../../../components/data-table/columns.ts"
import { ShortId } from "../../../components/signs/figures.tsx"
import { Status } from "../../../components/signs/status.tsx"
import { Tag } from "../../../components/signs/tag.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { formatDuration } from "../../../format/durations.ts"
import { formatMoney } from "../../../format/money.ts"
import { formatCount, formatExact } from "../../../format/numbers.ts"
import { formatBytes } from "../../../format/sizes.ts"
import type { JsonText } from "../../../json/json-text.ts"
import { valueText } from "../../../json/value-text.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { Publisher } from "../objects/publisher.tsx"
import styles from "./call-columns.module.css"

export interface CallRow {
  call: Call
  facts: CallFacts
  tokens: TokenCount | null
  /** undefined: not read yet. */
  payload: Call | undefined
  /** Its payloads are too large to be read for a line. */
  isLarge: boolean
}

export interface ColumnContext {
  project: CurrentProject
  /** Looked for in inputs, outputs and errors. */
  words: readonly string[]
  /** There is room for few columns. */
  isNarrow: boolean
  /** Other panes stand beside them. */
  isTight: boolean
}

/** The API's sort field of each column. */
export const sortFields: Readonly<Record<string, string>> = {
  time: "started_at",
  status: "summary.weave.status",
  name: "summary.weave.trace_name",
  duration: "summary.weave.latency_ms",
  tokens: "summary.weave.tokens",
}

/** null: calls cannot be sorted by it. */
export function sortFieldOf(column: string): string | null {
  return sortFields[column] ?? (isPath(column) ? column : null)
}

export const isPath = (column: string) => fieldOf(column)?.kind === "json" && column.includes(".")

export const usualColumns = ["time", "status", "name", "input", "output", "duration", "tokens", "cost", "feedback"]

export function callColumns({ project, words, isNarrow: narrow, isTight: tight }: ColumnContext): Column<CallRow>[] {
  return [
    {
      id: "time",
      title: "Time",
      width: 100,
      isSortable: true,
      cell: ({ call }) => <Begun call={call} />,
    },
    {
      id: "status",
      title: "Status",
      width: tight ? 80 : 84,
      isSortable: true,
      cell: ({ call }) => <State call={call} />,
    },
    {
      id: "name",
      title: "Name",
      width: narrow ? 104 : tight ? 128 : 150,
      isSortable: true,
      cell: ({ call }) => <Name call={call} project={project} />,
    },
    {
      id: "input",
      title: "Input",
      width: narrow ? 102 : tight ? 182 : 240,
      grows: 3,
      cell: (row) => <Preview row={row} of="inputs" words={words} />,
    },
    {
      id: "output",
      title: "Output",
      width: tight ? 158 : 200,
      grows: 2,
      cell: (row) => <Output row={row} words={words} />,
    },
    {
      id: "duration",
      title: "Duration",
      width: tight ? 100 : 114,
      isNumber: true,
      isSortable: true,
      cell: ({ call }) => <Duration call={call} />,
    },
    {
      id: "tokens",
      title: "Tokens",
      width: tight ? 68 : 72,
      isNumber: true,
      isSortable: true,
      cell: ({ tokens }) => tokens && <Tokens of={tokens} />,
    },
    {
      id: "cost",
      title: "Cost",
      width: 84,
      isNumber: true,
      unsortable:
        "Cannot be sorted: what a call costs is worked out from the prices when it is shown. Tokens can be sorted.",
      cell: ({ tokens }) =>
        tokens && <span className={tokens.cost === null ? styles.dim : undefined}>{formatMoney(tokens.cost)}</span>,
    },
    {
      id: "feedback",
      title: "Feedback",
      width: tight ? 112 : 166,
      grows: 1,
      cell: ({ facts }) => <Feedback marks={facts.feedback} />,
    },
    {
      id: "model",
      title: "Model",
      width: 180,
      cell: ({ tokens }) =>
        tokens?.models.map((name) => (
          <Tag key={name} isMono title={name}>
            {name}
          </Tag>
        )),
    },
    {
      id: "user",
      title: "User",
      width: 120,
      cell: ({ call }) => call.wb_user_id && <Publisher id={call.wb_user_id} />,
    },
    {
      id: "thread",
      title: "Thread",
      width: 130,
      cell: ({ call }) => call.thread_id && <ShortId of={call.thread_id} />,
    },
    {
      id: "size",
      title: "Size",
      width: 76,
      isNumber: true,
      cell: ({ call }) => (call.storage_size_bytes === null ? "" : formatBytes(call.storage_size_bytes)),
    },
    { id: "call", title: "Call", width: 130, cell: ({ call }) => <ShortId of={call.id} /> },
  ]
}

// A row is drawn again when its payloads come: what they do not change is not.

const Begun = memo(function Begun({ call }: { call: Call }) {
  return (
    <span className={styles.time}>
      <Time at={call.started_at} show="moment" />
    </span>
  )
})

const State = memo(function State({ call }: { call: Call }) {
  return <Status of={callStatus(call)} />
})

const Name = memo(function Name({ call, project }: { call: Call; project: CurrentProject }) {
  return (
    <span className={styles.name} title={callName(call)}>
      <TextLink
        isQuiet
        to="/$entity/$project/traces/$trace"
        params={{ ...project.params, trace: call.trace_id }}
        search={call.parent_id === null ? {} : { span: call.id }}
      >
        {callName(call)}
      </TextLink>
    </span>
  )
})

export function pathColumn(path: string): Column<CallRow> {
  return { id: path, title: path, width: 160, isSortable: true, cell: (row) => textAt(row, path) }
}

function textAt({ call, payload, isLarge }: CallRow, path: string): string {
  const [head = "", ...rest] = path.split(".")
  const source = head === "summary" ? call.summary : payload?.[head as "inputs" | "output" | "attributes"]
  if (source === undefined) return isLarge ? "too large to show" : ""
  return valueText(valueAt(source, rest))
}

function Output({ row, words }: { row: CallRow; words: readonly string[] }) {
  const { call } = row
  if (call.exception != null) {
    const line = exceptionLine(call.exception)
    return (
      <span className={styles.failed} title={line}>
        <Snippet parts={matchSnippet(line, call.exception, words)} />
      </span>
    )
  }
  if (call.ended_at == null) return <span className={styles.dim}>runs still</span>
  return (
    <span className={styles.output}>
      <Preview row={row} of="output" words={words} />
    </span>
  )
}

function Preview({
  row: { call, payload, isLarge },
  of,
  words,
}: {
  row: CallRow
  of: "inputs" | "output"
  words: readonly string[]
}) {
  if (isLarge) return <span className={styles.dim}>{formatBytes(call.storage_size_bytes ?? 0)}, open it to read</span>
  const text: JsonText | undefined = payload?.[of]
  if (text === undefined) return null
  if (isDroppedPayload(text)) return <span className={styles.dim}>too large to keep</span>
  const preview = payloadPreview(text)
  return (
    <span className={styles.preview} title={preview}>
      <Snippet parts={matchSnippet(preview, text, words)} />
    </span>
  )
}

function Snippet({ parts }: { parts: readonly SnippetPart[] }) {
  return parts.map((part, index) =>
    part.isMatch ? <mark key={index}>{part.text}</mark> : <span key={index}>{part.text}</span>,
  )
}

const Duration = memo(function Duration({ call }: { call: Call }) {
  const duration = callDuration(call)
  if (duration === null) return null
  return (
    <span className={styles.duration}>
      <i className={styles.bar} style={{ "--ms": duration } as CSSProperties} aria-hidden />
      {formatDuration(duration)}
    </span>
  )
})

export function Tokens({ of: { input, output } }: { of: Pick<TokenCount, "input" | "output"> }) {
  return <span title={`${formatExact(input)} in + ${formatExact(output)} out`}>{formatCount(input + output)}</span>
}

const Feedback = memo(function Feedback({ marks }: { marks: readonly FeedbackMark[] }) {
  return (
    <span className={styles.marks}>
      {marks.map(({ id, kind, name, text }) =>
        kind === "reaction" ? (
          <span key={id}>{text}</span>
        ) : kind === "note" ? (
          <Tag key={id} icon={MessageSquareText} title={text}>
            note
          </Tag>
        ) : (
          <Tag key={id} title={`${name}: ${text}`}>
            {name} {text}
          </Tag>
        ),
      )}
    </span>
  )
})
