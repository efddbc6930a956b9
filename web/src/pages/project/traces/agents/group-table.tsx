/** A list of agents or conversations: its head, its rows as they are seen, and what stands in their place. */
import { getRouteApi } from "@tanstack/react-router"
import { Radio } from "lucide-react"
import { type ReactNode, useState } from "react"
import type { SpanGroup, SpansQuery } from "../../../../api/agents/span-groups.ts"
import { ApiError } from "../../../../api/api-error.ts"
import { Button } from "../../../../components/controls/button.tsx"
import type { Column, Sort } from "../../../../components/data-table/columns.ts"
import { DataTable } from "../../../../components/data-table/data-table.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import { counted } from "../../../../format/counted.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { useMedia } from "../../../../shell/use-media.ts"
import { NoProject } from "../../no-project.tsx"
import { ListedSwitch, searchOfListed } from "../listed-switch.tsx"
import { RangeMenu } from "../range-menu.tsx"
import { timeRangeOf } from "../time-range.ts"
import { newestFirst, sortOf, sortText } from "../traces-search.ts"
import { GroupFind } from "./group-find.tsx"
import styles from "./group-table.module.css"
import { NoAgents } from "./no-agents.tsx"
import { useGroupRows } from "./use-group-rows.ts"

const route = getRouteApi("/signed-in/$entity/$project/traces")

type Lens = "conversations" | "agents"
const titles = { conversations: "Conversations", agents: "Agents" } as const
const finds = { conversations: "Find by name, agent, error or what was said", agents: "Find by name" } as const

/** What the address asks a list for. */
export function useGroupSearch(sortFields: Readonly<Record<string, string>>) {
  const search = route.useSearch()
  // The list does not move with the clock: what it goes back from is when it was asked for.
  const [openedAt] = useState(() => Date.now())
  const requested = sortOf(search.sort)
  const sort = Object.hasOwn(sortFields, requested.column) ? requested : newestFirst
  return {
    agent: search.agent ?? "",
    text: (search.q ?? "").trim(),
    range: timeRangeOf(search.from ?? "", search.to ?? "", openedAt),
    sort,
    sortBy: { field: sortFields[sort.column] ?? "last_seen", direction: sort.direction },
    isNarrow: useMedia("(max-width: 699px)"),
  }
}

interface GroupTableProps {
  project: CurrentProject
  lens: Lens
  list: SpansQuery
  range: string
  sort: Sort
  columns: readonly Column<SpanGroup>[]
  isNarrow: boolean
  idOf: (group: SpanGroup) => string
  onOpen: (group: SpanGroup) => void
  /** What is listed besides a range of time, with the way back to all. */
  filter?: ReactNode
}

export function GroupTable(props: GroupTableProps) {
  const { project, lens, list, range, sort, columns, isNarrow, idOf, onOpen, filter } = props
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { q = "", from = "", to = "", live: isLive = false } = search
  const change = (next: Partial<typeof search>, replace = false) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace })
  const rows = useGroupRows(list, isLive)
  const [current, setCurrent] = useState<number | null>(null)
  const isUnknown = rows.error instanceof ApiError && rows.error.isNotFound
  const isFiltered = filter !== undefined || q !== "" || from !== "" || to !== ""
  return (
    <>
      <PageBar
        title={titles[lens]}
        aside={
          rows.count === 0 ? undefined : (
            <span aria-live="polite">{counted(rows.count, lens === "agents" ? "agent" : "conversation")}</span>
          )
        }
        actions={
          <>
            <ListedSwitch listed={lens} onChange={(next) => change(searchOfListed(next, search))} />
            <RangeMenu name={range} from={from} to={to} onChange={(start, end) => change({ from: start, to: end })} />
            {!isNarrow && (
              <Button icon={Radio} isOn={isLive} onClick={() => change({ live: isLive ? undefined : true }, true)}>
                Live tail
              </Button>
            )}
          </>
        }
      />
      {!isUnknown && (rows.count > 0 || isFiltered) && (
        <GroupFind label={finds[lens]} text={q} onChange={(text) => change({ q: text }, true)} />
      )}
      {filter}
      {rows.error !== null && !isUnknown && (
        <div className={styles.error}>
          <ErrorNote what={`The ${lens} could not be read.`} error={rows.error} onRetry={rows.retry} />
        </div>
      )}
      <div className={styles.rows}>
        {isUnknown ? (
          <NoProject project={project} />
        ) : rows.isReading ? (
          rows.error === null && <SkeletonRows what={`Reading ${lens}`} rows={24} />
        ) : rows.count === 0 ? (
          isFiltered ? (
            <Empty
              title={`No ${lens} here`}
              actions={
                <Button onClick={() => change({ q: undefined, from: "", to: "", agent: undefined })}>
                  Show all {lens}
                </Button>
              }
            >
              {q !== ""
                ? `None ${lens === "agents" ? "is called" : "holds"} “${q}”${from === "" && to === "" ? "" : ` in “${range}”`}.`
                : `Nothing was sent ${from === "" && to === "" ? "by this agent" : `in “${range}”`} that belongs to one.`}
            </Empty>
          ) : (
            <NoAgents project={project} lens={lens} isLive={isLive} onLive={() => change({ live: true }, true)} />
          )
        ) : (
          <DataTable
            key={rows.key}
            label={titles[lens]}
            name={`${lens}${isNarrow ? "-narrow" : ""}`}
            columns={columns}
            count={rows.count}
            rowAt={rows.rowAt}
            idOf={idOf}
            onSeen={rows.onSeen}
            rowHeight={isNarrow ? 44 : 28}
            sort={sort}
            onSort={(next) => change({ sort: sortText(next) })}
            current={current}
            onCurrent={setCurrent}
            onOpen={onOpen}
          />
        )}
      </div>
    </>
  )
}
