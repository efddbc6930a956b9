/** One trace: its calls as a tree with their times, and what the selected one took, gave and was told. */
import { getRouteApi } from "@tanstack/react-router"
import { CircleX, Layers, Maximize2, ZoomOut } from "lucide-react"
import { type ReactNode, useDeferredValue, useMemo, useState } from "react"
import { type SkeletonCall, useTraceSkeleton } from "../../../api/calls/trace-calls.ts"
import { callName, callStatus } from "../../../calls/call-names.ts"
import { openAtFirst, treeRows, type TreeRow } from "../../../calls/trace-rows.ts"
import { buildTree, nextFailed, spanDuration, type TraceTree, withAncestors } from "../../../calls/trace-tree.ts"
import { useNow } from "../../../clock/use-now.ts"
import { Button, LinkButton } from "../../../components/controls/button.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { Split } from "../../../components/layout/split.tsx"
import { ShortId } from "../../../components/signs/figures.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { Keys } from "../../../components/signs/keys.tsx"
import { Status } from "../../../components/signs/status.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { SkeletonRows } from "../../../components/states/skeleton.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { nounOf } from "../../../format/counted.ts"
import { formatDuration } from "../../../format/durations.ts"
import { formatExact } from "../../../format/numbers.ts"
import { useKeys } from "../../../keys/use-keys.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import { useMedia } from "../../../shell/use-media.ts"
import { CallDetails } from "./call-details.tsx"
import { FindCall } from "./find-call.tsx"
import { Minimap } from "./minimap.tsx"
import { SpanTree } from "./span-tree.tsx"
import { windowAround, windowOf } from "./time-bars.ts"
import styles from "./trace-page.module.css"

const route = getRouteApi("/signed-in/$entity/$project/traces/$trace")

/** A large trace is read less often: each time all its calls come. */
const runningMs = (calls: number) => Math.max(2_000, calls / 5)

export function TracePage() {
  const project = useProjectOfPage()
  const { trace } = route.useParams()
  return <Trace key={`${project.id}/${trace}`} project={project} traceId={trace} />
}

interface TraceProps {
  project: CurrentProject
  traceId: string
}

function Trace({ project, traceId }: TraceProps) {
  const { data, error, refetch, dataUpdatedAt } = useTraceSkeleton(project.id, traceId, runningMs)
  const crumb = (
    <TextLink isQuiet to="/$entity/$project/traces" params={project.params}>
      Traces
    </TextLink>
  )
  const isUnknown = error?.isNotFound === true
  if (data === undefined || data.length === 0) {
    return (
      <>
        <PageBar crumb={crumb} title="Trace" aside={<ShortId of={traceId} />} />
        {error !== null && !isUnknown ? (
          <div className={styles.error}>
            <ErrorNote what="The trace could not be read." error={error} onRetry={() => void refetch()} />
          </div>
        ) : data === undefined && !isUnknown ? (
          <SkeletonRows what="Reading the trace" rows={16} />
        ) : (
          <NoTrace project={project} traceId={traceId} />
        )}
      </>
    )
  }
  return (
    <>
      {error !== null && (
        <div className={styles.error}>
          <ErrorNote what="The trace could not be read again." error={error} onRetry={() => void refetch()} />
        </div>
      )}
      <OpenTrace project={project} traceId={traceId} calls={data} readAt={dataUpdatedAt} crumb={crumb} />
    </>
  )
}

function NoTrace({ project, traceId }: TraceProps) {
  const { params } = project
  return (
    <Empty
      title="There is no such trace here"
      actions={
        <LinkButton kind="primary" to="/$entity/$project/traces" params={params}>
          All traces of {project.project}
        </LinkButton>
      }
    >
      <p>
        <b>{project.id}</b> has no calls of the trace <code className={styles.id}>{traceId}</code>. It may belong to
        another project, or it was deleted, or its calls have not arrived yet; <code>flush()</code> or the end of the
        program sends them.
      </p>
    </Empty>
  )
}

interface OpenTraceProps extends TraceProps {
  calls: SkeletonCall[]
  /** Milliseconds since 1970. */
  readAt: number
  crumb: ReactNode
}

const narrow = "(max-width: 699px)"

function OpenTrace({ project, traceId, calls, readAt, crumb }: OpenTraceProps) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const isNarrow = useMedia(narrow)
  const isRunning = useMemo(() => calls.some(({ ended_at }) => ended_at == null), [calls])
  const now = useNow(1)
  // Bars of running calls grow; what has ended stays, and is not worked out again.
  const clock = isRunning && calls.length < 5_000 ? now : readAt
  const tree = useMemo(() => buildTree(calls, callName, clock), [calls, clock])
  const wanted = search.span === undefined || search.span === "" ? undefined : tree.indexOf.get(search.span)
  const isMissing = search.span !== undefined && search.span !== "" && wanted === undefined
  const selected = wanted ?? tree.roots[0] ?? null

  const [firstOpen] = useState(() => openAtFirst(tree, selected))
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [groups, setGroups] = useState<ReadonlySet<string>>(new Set())
  const isFolding = search.unfold !== true
  const open = useMemo(() => openSpans(tree, firstOpen, toggled), [tree, firstOpen, toggled])
  const rows = useMemo(
    () => treeRows(tree, { spans: open, groups, selected, isFolding }),
    [tree, open, groups, selected, isFolding],
  )
  const window = windowOf(tree.durationMs, search.t0, search.t1)
  const isZoomed = search.t0 !== undefined && search.t1 !== undefined

  const change = (next: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true })
  const select = (index: number) => {
    // The selected call is never inside a closed one.
    const closed = withAncestors(tree, index)
      .slice(1)
      .filter((outer) => !open.has(outer))
    if (closed.length > 0) setToggled(withAll(toggled, tree, closed, true))
    change({ span: tree.spans[index]?.id })
  }
  const toggle = (row: TreeRow) => {
    if (row.kind === "group") {
      const next = new Set(groups)
      if (!next.delete(row.key)) next.add(row.key)
      return setGroups(next)
    }
    setToggled(withAll(toggled, tree, [row.span.index], !row.isOpen))
  }
  const jump = (step: 1 | -1) => {
    const next = nextFailed(tree, selected, step)
    if (next !== null) select(next)
  }
  const zoom = () => {
    const span = selected === null ? undefined : tree.spans[selected]
    if (span === undefined) return
    const { from, to } = windowAround(span.start, spanDuration(tree, span))
    change({ t0: Math.round(from * 1000) / 1000, t1: Math.round(to * 1000) / 1000 })
  }
  const walk = (step: 1 | -1) => {
    const spans = rows.filter((row) => row.kind === "span")
    const at = spans.findIndex(({ span }) => span.index === selected)
    const next = spans[at + step]
    if (next !== undefined) select(next.span.index)
  }
  const group = "Trace"
  useKeys([
    { keys: "j", label: "next call", group, run: () => walk(1), mayRepeat: () => true },
    { keys: "k", label: "previous call", group, run: () => walk(-1), mayRepeat: () => true },
    { keys: "e", label: "next error", group, run: () => jump(1) },
    { keys: "E", label: "previous error", group, run: () => jump(-1) },
    { keys: "z", label: "zoom to the call", group, run: zoom },
    { keys: "Z", label: "the whole trace", group, run: () => change({ t0: undefined, t1: undefined }) },
  ])

  const root = tree.roots[0] === undefined ? undefined : calls[tree.roots[0]]
  const span = selected === null ? undefined : tree.spans[selected]
  // The tree moves at once; the details follow.
  const shown = useDeferredValue(span)
  return (
    <div className={styles.page}>
      <PageBar
        crumb={crumb}
        title={root === undefined ? "Trace" : callName(root)}
        aside={
          <span className={styles.facts}>
            <ShortId of={traceId} />
            {root !== undefined && <Status of={callStatus(root)} />}
            <span>
              {formatExact(calls.length)} {nounOf(calls.length, "call")} · {formatDuration(tree.durationMs)}
              {tree.running > 0 && ` · ${formatExact(tree.running)} running`}
            </span>
          </span>
        }
        actions={
          <>
            {tree.failed.length > 0 && (
              <button type="button" className={styles.failed} onClick={() => jump(1)} title="Next error">
                <Icon of={CircleX} size={14} /> {formatExact(tree.failed.length)} {nounOf(tree.failed.length, "error")}{" "}
                <Keys of="e" />
              </button>
            )}
            <span className={styles.wideOnly}>
              <CopyButton text={traceId} label="Copy the id of the trace" />
            </span>
          </>
        }
      />
      <Minimap tree={tree} window={window} onWindow={({ from, to }) => change({ t0: from, t1: to })} />
      <div className={styles.panes}>
        <Split
          label="Width of the tree"
          name="trace"
          start={50}
          first={
            <section className={styles.tree} aria-label="Calls">
              <div className={styles.tools}>
                <FindCall tree={tree} onFound={select} />
                <Button
                  size="small"
                  icon={Layers}
                  isOn={isFolding}
                  onClick={() => change({ unfold: isFolding ? true : undefined })}
                >
                  Fold repeats
                </Button>
                <span className={styles.end}>
                  {isZoomed && (
                    <Button
                      size="small"
                      kind="quiet"
                      icon={ZoomOut}
                      aria-label="The whole trace"
                      title="The whole trace (⇧z)"
                      onClick={() => change({ t0: undefined, t1: undefined })}
                    />
                  )}
                  <Button
                    size="small"
                    kind="quiet"
                    icon={Maximize2}
                    aria-label="Zoom to the selected call"
                    title="Zoom to the selected call (z)"
                    onClick={zoom}
                  />
                </span>
              </div>
              <SpanTree
                tree={tree}
                rows={rows}
                window={window}
                selected={selected}
                rowHeight={isNarrow ? 36 : 24}
                onSelect={select}
                onToggle={toggle}
              />
            </section>
          }
          second={
            isMissing ? (
              <div className={styles.error}>
                <ErrorNote
                  what="The call is not in this trace."
                  error={new Error(`${search.span} was deleted, or belongs to another trace.`)}
                  onRetry={() => change({ span: undefined })}
                />
              </div>
            ) : shown === undefined ? null : (
              <CallDetails
                key={shown.id}
                project={project}
                span={shown}
                tab={search.tab}
                onTab={(tab) => change({ tab })}
                onStep={walk}
              />
            )
          }
        />
      </div>
    </div>
  )
}

/** Calls that came after the first reading are open when what they are in is. */
function openSpans(tree: TraceTree, first: ReadonlySet<number>, toggled: ReadonlyMap<string, boolean>): Set<number> {
  const open = new Set(first)
  for (const [id, isOpen] of toggled) {
    const index = tree.indexOf.get(id)
    if (index === undefined) continue
    if (isOpen) open.add(index)
    else open.delete(index)
  }
  return open
}

function withAll(
  toggled: ReadonlyMap<string, boolean>,
  tree: TraceTree,
  indexes: readonly number[],
  isOpen: boolean,
): Map<string, boolean> {
  const next = new Map(toggled)
  for (const index of indexes) {
    const span = tree.spans[index]
    if (span !== undefined) next.set(span.id, isOpen)
  }
  return next
}
