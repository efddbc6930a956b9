/** An empty table, which says the next step: send the first call, look at calls without their trace, or take out what leaves nothing. */
import type { ReactNode } from "react"
import { type CallCount, useCallCount } from "../../../api/calls/calls.ts"
import { selectionOf } from "../../../calls/filter/filter-query.ts"
import { type Clause, printClause, printFilter } from "../../../calls/filter/filter-text.ts"
import { Button, LinkButton } from "../../../components/controls/button.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { nounOf } from "../../../format/counted.ts"
import { formatAtLeast } from "../../../format/numbers.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./no-traces.module.css"
import type { TimeRange } from "./time-range.ts"
import { newMs } from "./use-call-rows.ts"

/** Counted no further: it says which way leads to rows. */
const enough = 1_000

interface NoTracesProps {
  project: CurrentProject
  rootsOnly: boolean
  isLive: boolean
  onLive: () => void
  onAllCalls: () => void
}

export function NoTraces({ project, rootsOnly, isLive, onLive, onAllCalls }: NoTracesProps) {
  const inside = useCallCount(
    { project_id: project.id, limit: enough },
    { enabled: rootsOnly, refetchInterval: isLive ? newMs : false },
  )
  if (rootsOnly && inside.isPending) return null
  if (rootsOnly && inside.error !== null) {
    return (
      <ErrorNote
        what="Whether the project has calls could not be read."
        error={inside.error}
        onRetry={() => void inside.refetch()}
      />
    )
  }
  if (rootsOnly && inside.data !== undefined && inside.data.count > 0) {
    return <OnlyInside found={inside.data} isLive={isLive} onLive={onLive} onAllCalls={onAllCalls} />
  }
  return (
    <Empty
      title="No traces yet"
      {...(isLive ? { waitingFor: "the first call" } : {})}
      actions={
        <>
          <LinkButton kind="primary" to="/$entity/$project" params={project.params}>
            Send the first call
          </LinkButton>
          {!isLive && <Button onClick={onLive}>Wait for it here</Button>}
        </>
      }
    >
      A trace is recorded by a program with <code>weave.init("{project.id}")</code>, by any OpenTelemetry exporter, or
      by a chat that is logged.
    </Empty>
  )
}

interface OnlyInsideProps extends Pick<NoTracesProps, "isLive" | "onLive" | "onAllCalls"> {
  found: CallCount
}

/** Exporters send the outermost span last, and one that samples, or dies, never does. */
function OnlyInside({ found: { count, has_more }, isLive, onLive, onAllCalls }: OnlyInsideProps) {
  const words = `${formatAtLeast(count, !has_more)} ${nounOf(count, "call")}`
  return (
    <Empty
      title="No trace has its outermost call yet"
      {...(isLive ? { waitingFor: "it" } : {})}
      actions={
        <>
          <Button kind="primary" onClick={onAllCalls}>
            Show all calls
          </Button>
          {!isLive && <Button onClick={onLive}>Wait for it here</Button>}
        </>
      }
    >
      A trace is listed by its outermost call. This project has {words}, all of them inside of calls that did not come:
      a program still runs, or its exporter leaves them out.
    </Empty>
  )
}

interface NoMatchProps {
  project: CurrentProject
  clauses: readonly Clause[]
  range: TimeRange
  rootsOnly: boolean
  onFilter: (text: string) => void
  onAllTime: () => void
  onAllCalls: () => void
}

export function NoMatch({ project, clauses, range, rootsOnly, onFilter, onAllTime, onAllCalls }: NoMatchProps) {
  const scope = { projectId: project.id, rootsOnly, from: range.from, to: range.to }
  const hasRange = range.from !== undefined || range.to !== undefined
  return (
    <Empty
      title={rootsOnly ? "No trace matches" : "No call matches"}
      actions={<Button onClick={() => onFilter("")}>Clear the filter</Button>}
    >
      <ul className={styles.ways}>
        {clauses.map((clause, index) => {
          const rest = clauses.toSpliced(index, 1)
          return (
            <Way
              key={printClause(clause)}
              project={project}
              selection={selectionOf(rest, scope)}
              onTake={() => onFilter(printFilter(rest))}
            >
              without <code>{printClause(clause)}</code>
            </Way>
          )
        })}
        {hasRange && (
          <Way
            project={project}
            selection={selectionOf(clauses, { projectId: project.id, rootsOnly })}
            onTake={onAllTime}
          >
            in all time instead of “{range.name}”
          </Way>
        )}
        {rootsOnly && (
          <Way project={project} selection={selectionOf(clauses, { ...scope, rootsOnly: false })} onTake={onAllCalls}>
            among all calls, inside of traces too
          </Way>
        )}
      </ul>
    </Empty>
  )
}

interface WayProps {
  project: CurrentProject
  selection: ReturnType<typeof selectionOf>
  onTake: () => void
  children: ReactNode
}

function Way({ project, selection, onTake, children }: WayProps) {
  const { data } = useCallCount({ project_id: project.id, ...selection, limit: enough })
  if (data === undefined) return null
  return (
    <li className={styles.way}>
      <span>
        {formatAtLeast(data.count, !data.has_more)} {children}
      </span>
      {data.count > 0 && (
        <Button size="small" onClick={onTake}>
          Show
        </Button>
      )}
    </li>
  )
}
