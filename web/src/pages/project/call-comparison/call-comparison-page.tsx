/** Two calls beside each other: what they took, cost and used, and which words of their payloads differ. */
import { getRouteApi } from "@tanstack/react-router"
import { ArrowLeftRight } from "lucide-react"
import { useDeferredValue, useMemo } from "react"
import { type Call, useCalls } from "../../../api/calls/calls.ts"
import { callChanges, type ChangedPart } from "../../../calls/call-changes.ts"
import { Button, LinkButton } from "../../../components/controls/button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { ShortId } from "../../../components/signs/figures.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { Note } from "../../../components/states/note.tsx"
import { ChangedText } from "../../../components/text/changed-text.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { nounOf } from "../../../format/counted.ts"
import { formatExact } from "../../../format/numbers.ts"
import { formatBytes } from "../../../format/sizes.ts"
import type { JsonText } from "../../../json/json-text.ts"
import type { ValueChange } from "../../../objects/value-diff.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import styles from "./call-comparison-page.module.css"
import { ComparedFacts } from "./compared-facts.tsx"

const route = getRouteApi("/signed-in/$entity/$project/traces/compare")

export function CallComparisonPage() {
  const project = useProjectOfPage()
  const { calls = [] } = route.useSearch()
  const navigate = route.useNavigate()
  const [first, second] = calls
  const hasBoth = first !== undefined && second !== undefined
  const { params } = project
  return (
    <div className={styles.page}>
      <PageBar
        crumb={
          <TextLink isQuiet to="/$entity/$project/traces" params={params}>
            Traces
          </TextLink>
        }
        title="Two calls compared"
        actions={
          hasBoth && (
            <Button
              icon={ArrowLeftRight}
              onClick={() =>
                void navigate({ search: (before) => ({ ...before, calls: [second, first] }), replace: true })
              }
            >
              Swap
            </Button>
          )
        }
      />
      {hasBoth ? (
        <Compared key={`${first} ${second}`} project={project} ids={[first, second]} />
      ) : (
        <Empty
          title="Choose two calls"
          actions={
            <LinkButton kind="primary" to="/$entity/$project/traces" params={params}>
              All traces
            </LinkButton>
          }
        >
          Select two rows of the table of traces with <code>x</code>, then press <code>c</code>.
        </Empty>
      )}
    </div>
  )
}

/** Larger payloads are not compared: it would take long. */
const largest = 4_000_000

function Compared({ project, ids }: { project: CurrentProject; ids: readonly [string, string] }) {
  const query = useCalls({
    project_id: project.id,
    filter: { call_ids: [...new Set(ids)] },
    include_costs: true,
    include_storage_size: true,
  })
  return (
    <Loaded query={query} what="calls">
      {(calls) => {
        const [before, after] = ids.map((id) => calls.find((call) => call.id === id))
        if (before === undefined || after === undefined) {
          const missing = ids.filter((id) => !calls.some((call) => call.id === id))
          return (
            <Note kind="bad" title={missing.length === 1 ? "A call is not here." : "The calls are not here."}>
              {missing.map((id) => (
                <span key={id} className={styles.id}>
                  <ShortId of={id} />{" "}
                </span>
              ))}
              {missing.length === 1 ? "was" : "were"} deleted, or {missing.length === 1 ? "belongs" : "belong"} to
              another project.{" "}
              <TextLink to="/$entity/$project/traces" params={project.params}>
                All traces of {project.project}
              </TextLink>
            </Note>
          )
        }
        return (
          <div className={styles.body}>
            <ComparedFacts project={project} before={before} after={after} />
            <Changes before={before} after={after} />
          </div>
        )
      }}
    </Loaded>
  )
}

const sizeOf = ({ inputs, output, attributes }: Call) => inputs.length + output.length + attributes.length

function Changes(calls: { before: Call; after: Call }) {
  // The figures are there at once; what differs follows.
  const { before, after } = useDeferredValue(calls)
  const isLarge = Math.max(sizeOf(before), sizeOf(after)) > largest
  const parts = useMemo(() => (isLarge ? [] : callChanges(before, after)), [isLarge, before, after])
  if (isLarge) {
    return (
      <Note title="Too large to compare word by word.">
        The payloads are {formatBytes(sizeOf(before))} and {formatBytes(sizeOf(after))}. Open both calls to read them.
      </Note>
    )
  }
  return parts.map((part) => <Part key={part.name} part={part} />)
}

const mostChanges = 50

function Part({ part: { name, changes } }: { part: ChangedPart }) {
  return (
    <section className={styles.part} aria-label={name}>
      <h2 className={styles.title}>
        {name}{" "}
        <span className={styles.note}>
          {changes.length === 0
            ? "the same in both"
            : `${formatExact(changes.length)} ${nounOf(changes.length, "value differs", "values differ")}`}
        </span>
      </h2>
      {changes.slice(0, mostChanges).map((change) => (
        <div key={change.path} className={styles.change}>
          <code className={styles.path}>{change.path === "" ? "the whole value" : change.path}</code>
          <Change {...change} />
        </div>
      ))}
      {changes.length > mostChanges && (
        <p className={styles.note}>
          {formatExact(changes.length - mostChanges)} more{" "}
          {nounOf(changes.length - mostChanges, "value differs", "values differ")}.
        </p>
      )}
    </section>
  )
}

function Change({ before, after }: ValueChange) {
  if (isText(before) && isText(after)) return <ChangedText before={textOf(before)} after={textOf(after)} />
  return (
    <div className={styles.whole}>
      {before !== null && <del>{shown(before)}</del>}
      {after !== null && <ins>{shown(after)}</ins>}
    </div>
  )
}

const isText = (value: JsonText | null): value is JsonText => value?.startsWith('"') === true
/** A value that only one call has is shown by its beginning. */
const shown = (value: JsonText) => (value.length > 4_000 ? `${value.slice(0, 4_000)}…` : value)
const textOf = (value: JsonText) => JSON.parse(value) as string
