/** Everything that people and scorers said in a project, the newest first: by kind, person, name and time, with the call. */
import { getRouteApi } from "@tanstack/react-router"
import { useState } from "react"
import { ApiError } from "../../../../api/api-error.ts"
import { type FeedbackRow, useFeedbackPages } from "../../../../api/calls/feedback.ts"
import { readNextPage } from "../../../../api/pages.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { SelectField } from "../../../../components/controls/field.tsx"
import { DataTable } from "../../../../components/data-table/data-table.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { formatCount } from "../../../../format/numbers.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { useMedia } from "../../../../shell/use-media.ts"
import { NoProject } from "../../no-project.tsx"
import { GroupFind } from "../agents/group-find.tsx"
import { ListedSwitch, searchOfListed } from "../listed-switch.tsx"
import { RangeMenu } from "../range-menu.tsx"
import { timeRangeOf } from "../time-range.ts"
import { feedbackKinds } from "../traces-search.ts"
import { feedbackColumns } from "./feedback-columns.tsx"
import { callIdOf, feedbackConditions, kinds } from "./feedback-query.ts"
import styles from "./feedback.module.css"
import { useCallsOfFeedback } from "./use-calls-of-feedback.ts"
import { usePeople } from "./use-people.ts"

const route = getRouteApi("/signed-in/$entity/$project/traces")

export function Feedback({ project }: { project: CurrentProject }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { q = "", from = "", to = "", kind, by } = search
  const change = (next: Partial<typeof search>, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace })
  // The list does not move with the clock: what it goes back from is when it was asked for.
  const [openedAt] = useState(() => Date.now())
  const range = timeRangeOf(from, to, openedAt)
  const query = useFeedbackPages(project.id, feedbackConditions({ text: q.trim(), kind, by, range }))
  const { rows = [], total = 0 } = query.data ?? {}
  const people = usePeople(project, rows, by)
  const isFiltered = q !== "" || from !== "" || to !== "" || kind !== undefined || by !== undefined
  const isUnknown = query.error instanceof ApiError && query.error.isNotFound
  return (
    <>
      <PageBar
        title="Feedback"
        aside={query.data !== undefined && total > 0 && <span aria-live="polite">{formatCount(total)} in all</span>}
        actions={
          <>
            <ListedSwitch listed="feedback" onChange={(next) => change(searchOfListed(next, search))} />
            <RangeMenu
              name={range.name}
              from={from}
              to={to}
              onChange={(start, end) => change({ from: start, to: end })}
            />
          </>
        }
      />
      {!isUnknown && (rows.length > 0 || isFiltered) && (
        <div className={styles.tools}>
          <GroupFind
            label="Find by scorer, question or note"
            text={q}
            onChange={(text) => change({ q: text || undefined }, true)}
          />
          <SelectField
            label="Kind"
            isLabelHidden
            value={kind ?? ""}
            onChange={({ target }) => change({ kind: feedbackKinds.find((one) => one === target.value) })}
          >
            <option value="">Any kind</option>
            {feedbackKinds.map((one) => (
              <option key={one} value={one}>
                {kinds[one].title}
              </option>
            ))}
          </SelectField>
          <SelectField
            label="By"
            isLabelHidden
            value={by ?? ""}
            onChange={({ target }) => change({ by: target.value || undefined })}
          >
            <option value="">By anybody</option>
            {people.ids.map((id) => (
              <option key={id} value={id}>
                By {people.nameOf(id)}
              </option>
            ))}
          </SelectField>
        </div>
      )}
      {isUnknown ? (
        <NoProject project={project} />
      ) : (
        <Loaded query={query} what="feedback">
          {(found) =>
            found.rows.length > 0 ? (
              <Rows project={project} rows={found.rows} nameOf={people.nameOf} onEnd={() => readNextPage(query)} />
            ) : isFiltered ? (
              <Empty
                title="No feedback fits"
                actions={
                  <Button onClick={() => change({ q: undefined, from: "", to: "", kind: undefined, by: undefined })}>
                    Show all feedback
                  </Button>
                }
              >
                Nothing of this kind, by this person, of this name or in this time was said here.
              </Empty>
            ) : (
              <Empty title="No feedback yet">
                What people note, how they react, what annotators label and what scorers find appears here, with its
                call.
              </Empty>
            )
          }
        </Loaded>
      )}
    </>
  )
}

interface RowsProps {
  project: CurrentProject
  rows: readonly FeedbackRow[]
  nameOf: (id: string) => string
  onEnd: () => void
}

function Rows({ project, rows, nameOf, onEnd }: RowsProps) {
  const navigate = route.useNavigate()
  const isNarrow = useMedia("(max-width: 699px)")
  const [current, setCurrent] = useState<number | null>(null)
  const calls = useCallsOfFeedback(project.id, rows)
  return (
    <DataTable
      label="Feedback"
      name={isNarrow ? "feedback-narrow" : "feedback"}
      columns={feedbackColumns({ project, calls, nameOf, isNarrow })}
      count={rows.length}
      rowAt={(index) => rows[index]}
      idOf={({ id }) => id}
      rowHeight={isNarrow ? 44 : 28}
      onSeen={(_first, last) => last === rows.length - 1 && onEnd()}
      current={current}
      onCurrent={setCurrent}
      onOpen={(row) => {
        const call = calls.get(callIdOf(row) ?? "")
        if (call !== undefined) {
          void navigate({
            to: "/$entity/$project/traces/$trace",
            params: { ...project.params, trace: call.trace_id },
            search: { span: call.id, tab: "feedback" },
          })
        }
      }}
    />
  )
}
