/** Every trace of a project, or every call: filtered, sorted, selected, and live. All of it is in the address. */
import { getRouteApi } from "@tanstack/react-router"
import { type CSSProperties, type ReactNode, useState } from "react"
import { ApiError } from "../../../api/api-error.ts"
import { callName } from "../../../calls/call-names.ts"
import { pathsOfCall } from "../../../calls/payload-path.ts"
import { DataTable } from "../../../components/data-table/data-table.tsx"
import type { Column } from "../../../components/data-table/columns.ts"
import { Keys } from "../../../components/signs/keys.tsx"
import { LiveDot } from "../../../components/signs/live-dot.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { SkeletonRows } from "../../../components/states/skeleton.tsx"
import { formatAtLeast, formatCount } from "../../../format/numbers.ts"
import { formatTime } from "../../../format/times.ts"
import { mostInAddress } from "../../../kept/kept-list.ts"
import { useKeys } from "../../../keys/use-keys.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import { useMedia } from "../../../shell/use-media.ts"
import { NoProject } from "../no-project.tsx"
import { Agents } from "./agents/agents.tsx"
import { Conversations } from "./agents/conversations.tsx"
import { type CallRow, callColumns, isPath, pathColumn, usualColumns } from "./call-columns.tsx"
import { ColumnChooser } from "../columns/column-chooser.tsx"
import { FacetsDialog } from "./facets-dialog.tsx"
import { Facets } from "./facets.tsx"
import { FilterBar } from "./filter-bar.tsx"
import { searchOfListed } from "./listed-switch.tsx"
import { NoMatch, NoTraces } from "./no-traces.tsx"
import { useRowInHand } from "./row-in-hand.ts"
import { Feedback } from "./feedback/feedback.tsx"
import { SavedViews } from "./saved-views.tsx"
import { SelectionBar } from "./selection-bar.tsx"
import { TimeStrip, TimeStripPlace } from "./time-strip.tsx"
import { TracesBar } from "./traces-bar.tsx"
import styles from "./traces-page.module.css"
import { sortText } from "./traces-search.ts"
import { useBarScale } from "./use-bar-scale.ts"
import { useCallList } from "./use-call-list.ts"
import { useCallRows } from "./use-call-rows.ts"
import { useFacets } from "./use-facets.ts"

const route = getRouteApi("/signed-in/$entity/$project/traces")
/** Columns that fit on a narrow screen. */
const narrowColumns = ["time", "status", "name", "input"]

export function TracesPage() {
  const project = useProjectOfPage()
  const { lens } = route.useSearch()
  if (lens === "agents") return <Agents key={project.id} project={project} />
  if (lens === "conversations") return <Conversations key={project.id} project={project} />
  if (lens === "feedback") return <Feedback key={project.id} project={project} />
  return <Traces key={project.id} project={project} />
}

function Traces({ project }: { project: CurrentProject }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { q = "", from = "", to = "", scope, live: isLive = false } = search
  const change = (next: Partial<typeof search>, replace = true) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace })
  const isNarrow = useMedia("(max-width: 699px)")
  const {
    clauses,
    error: filterError,
    range,
    scope: listScope,
    rootsOnly,
    selection,
    sort,
    sortBy,
    words,
  } = useCallList(project.id, search)
  const rows = useCallRows({
    projectId: project.id,
    selection,
    sortBy,
    isLive,
    rootsOnly,
    isEnabled: filterError === null,
  })
  const [picked, setPicked] = useState<ReadonlySet<string>>(() => new Set(search.picked ?? []))
  const { current, setCurrent } = useRowInHand({
    idAt: rows.idAt,
    inAddress: search.row,
    onRest: (row) => change({ row }),
  })
  const [isChoosing, setChoosing] = useState(false)
  const [isOverValues, setOverValues] = useState(false)
  const isWide = useMedia("(min-width: 1280px)")
  const isRoomy = useMedia("(min-width: 1640px)")
  const hasFacets = isWide && search.values !== "off"
  const isFiltered = clauses.length > 0 || range.from !== undefined || range.to !== undefined
  // The list that is counted in full, however long it takes.
  const [countedWhole, setCountedWhole] = useState<string | null>(null)
  const counted = useFacets({
    clauses,
    scope: listScope,
    isLive,
    // The rows come first.
    isEnabled:
      filterError === null &&
      (!isNarrow || isOverValues) &&
      !rows.isReading &&
      !rows.isSearching &&
      (rows.count > 0 || isFiltered),
    isWhole: countedWhole === JSON.stringify([q, from, to, scope]),
  })

  const known = callColumns({
    project,
    words,
    isNarrow,
    isTight: hasFacets && !isRoomy,
  })
  const wanted =
    search.cols !== undefined && search.cols.length > 0 ? search.cols : isNarrow ? narrowColumns : usualColumns
  const columns = wanted.flatMap((id): Column<CallRow>[] => {
    const column = known.find((one) => one.id === id)
    return column !== undefined ? [column] : isPath(id) ? [pathColumn(id)] : []
  })
  // The order is that of what calls report; the figures of others are added up for those that are seen.
  const isBySomeTokens =
    rootsOnly &&
    sort.column === "tokens" &&
    rows.shownRows.some(({ facts, tokens }) => tokens !== null && facts.tokens === null)
  const longMs = useBarScale(rows.shown)
  const paths = [...new Set([...rows.payloads.values()].slice(0, 20).flatMap(pathsOfCall))]
  const feedback = [
    ...new Set(
      rows.shownRows
        .flatMap(({ facts }) => facts.feedback)
        .filter(({ kind }) => kind === "score")
        .map(({ name }) => name),
    ),
  ]
  const ops = [...new Set(rows.shown.map(callName))]
  const values = Object.fromEntries(
    counted.facets.map(({ field, values: found = [] }) => [field, found.flatMap(({ value }) => value ?? [])]),
  )

  const pick = (ids: ReadonlySet<string>) => {
    setPicked(ids)
    change({ picked: ids.size > mostInAddress ? undefined : [...ids] })
  }
  const open = ({ call }: CallRow) =>
    void navigate({
      to: "/$entity/$project/traces/$trace",
      params: { ...project.params, trace: call.trace_id },
      search: call.parent_id === null ? {} : { span: call.id },
    })
  const hasNew = rows.added > 0
  useKeys([
    ...(hasNew ? [{ keys: "n", label: "show new calls", group: "Traces", run: rows.showNew }] : []),
    ...(picked.size > 0
      ? [{ keys: "Escape", label: "clear the selection", group: "Traces", run: () => pick(new Set()) }]
      : []),
  ])

  const listKey = JSON.stringify([q, from, to, scope, search.sort])
  const isUnknown = rows.error instanceof ApiError && rows.error.isNotFound
  const isEmpty = isUnknown || (rows.isCounted && !rows.isReading && rows.count === 0)
  const hasList = filterError === null && !isEmpty
  const canFilter = filterError === null && !isUnknown && (!isEmpty || isFiltered)
  const what = rootsOnly ? "traces" : "calls"
  const countWords = `${formatAtLeast(rows.count, rows.isWhole)} ${rows.count === 1 ? what.slice(0, -1) : what}`
  const facets = {
    counted,
    clauses,
    onFilter: (text: string) => change({ q: text }, false),
    onCountAll: () => setCountedWhole(JSON.stringify([q, from, to, scope])),
  }
  let nothing: ReactNode
  if (isUnknown) nothing = <NoProject project={project} />
  else if (isFiltered) {
    nothing = (
      <NoMatch
        project={project}
        clauses={clauses}
        range={range}
        rootsOnly={rootsOnly}
        onFilter={(text) => change({ q: text }, false)}
        onAllTime={() => change({ from: "", to: "" }, false)}
        onAllCalls={() => change({ scope: "all" }, false)}
      />
    )
  } else {
    nothing = (
      <NoTraces
        project={project}
        rootsOnly={rootsOnly}
        isLive={isLive}
        onLive={() => change({ live: true })}
        onAllCalls={() => change({ scope: "all" }, false)}
      />
    )
  }
  let banner: ReactNode
  if (hasNew) {
    banner = (
      <button type="button" className={styles.banner} onClick={rows.showNew}>
        {formatCount(rows.added)} new {rows.added === 1 ? what.slice(0, -1) : what}
        {rows.newest !== undefined && ` since ${formatTime(new Date(rows.newest))}`}. Show them <kbd>n</kbd>
      </button>
    )
  } else if (isBySomeTokens) {
    banner = <p className={styles.note}>Traces whose outermost call reports no tokens itself come last.</p>
  }
  return (
    <div className={styles.page}>
      <TracesBar
        count={
          rows.isCounted ? (
            <>
              {countWords}{" "}
              {!rows.isWhole && (
                <button type="button" className={styles.countAll} onClick={rows.countAll}>
                  Count all
                </button>
              )}
            </>
          ) : rows.isSearching ? (
            `${countWords}, still searching…`
          ) : null
        }
        rootsOnly={rootsOnly}
        range={{ name: range.name, from, to }}
        isLive={isLive}
        hasValues={isWide ? hasFacets : null}
        onListed={(next) => change(searchOfListed(next, search), false)}
        onRange={(start, end) => change({ from: start, to: end }, false)}
        onLive={() => change({ live: isLive ? undefined : true })}
        onValues={
          canFilter
            ? () => (isWide ? change({ values: hasFacets ? "off" : undefined }) : setOverValues(true))
            : undefined
        }
        onColumns={() => setChoosing(true)}
      />
      {!isUnknown && filterError === null && !isNarrow && (
        <SavedViews project={project} search={search} onView={(view) => change({ view }, false)} />
      )}
      <FilterBar text={q} known={{ ops, paths, feedback, values }} onChange={(text) => change({ q: text }, false)} />
      {rows.error !== null && !isUnknown && (
        <div className={styles.error}>
          <ErrorNote what={`The ${what} could not be read.`} error={rows.error} onRetry={rows.retry} />
        </div>
      )}
      {hasList &&
        (counted.times !== undefined ? (
          <TimeStrip times={counted.times} onRange={(start, end) => change({ from: start, to: end }, false)} />
        ) : (
          counted.error === null && <TimeStripPlace />
        ))}
      <div className={styles.panes}>
        {hasFacets && canFilter && <Facets {...facets} />}
        <div className={styles.rows} style={{ "--long-ms": longMs } as CSSProperties}>
          {filterError === null && isEmpty && nothing}
          {hasList && rows.isReading && rows.error === null && <SkeletonRows what={`Reading ${what}`} rows={24} />}
          {hasList && !rows.isReading && (
            <DataTable
              key={listKey}
              label={rootsOnly ? "Traces" : "Calls"}
              name={isNarrow ? "traces-narrow" : "traces"}
              columns={columns}
              count={rows.count}
              rowAt={rows.rowAt}
              idOf={({ call }) => call.id}
              onSeen={rows.onSeen}
              rowHeight={isNarrow ? 44 : 28}
              sort={sort}
              onSort={(next) => change({ sort: sortText(next) }, false)}
              {...(isNarrow ? {} : { selection: picked, onSelect: pick })}
              current={current}
              onCurrent={setCurrent}
              onOpen={open}
              rowState={({ call }) => (call.exception == null ? undefined : "failed")}
              banner={banner}
            />
          )}
        </div>
      </div>
      {hasList && !rows.isReading && (!isNarrow || isLive) && (
        <SelectionBar
          project={project}
          picked={[...picked]}
          onClear={() => pick(new Set())}
          shown={{
            ...(q === "" ? {} : { q }),
            ...(from === "" ? {} : { since: from }),
            ...(to === "" ? {} : { until: to }),
            ...(scope === "all" ? { scope } : {}),
          }}
          note={
            isLive ? (
              <>
                <LiveDot /> New {what} come in by themselves
              </>
            ) : (
              <KeyHints />
            )
          }
        />
      )}
      {isOverValues && !isWide && canFilter && (
        <FacetsDialog {...facets} left={rows.isCounted ? countWords : null} onClose={() => setOverValues(false)} />
      )}
      {isChoosing && (
        <ColumnChooser
          shown={columns.map(({ id }) => id)}
          columns={known}
          usual={usualColumns}
          paths={paths}
          isPath={isPath}
          example="inputs.ticket.id"
          pathRule="A path begins with inputs., output., attributes. or summary."
          onChange={(shown) => change({ cols: shown })}
          onClose={() => setChoosing(false)}
        />
      )}
    </div>
  )
}

/** Which keys walk through the rows; the sheet of keys lists them all. */
function KeyHints() {
  return (
    <span className={styles.hints}>
      <Keys of="j" /> <Keys of="k" /> row <Keys of="Enter" /> open <Keys of="x" /> select
    </span>
  )
}
