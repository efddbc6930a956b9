/** At the foot of the table: how many calls are selected, and what can be done with them. */
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { Download, GitCompareArrows, Highlighter, Zap } from "lucide-react"
import { type ReactNode, useState } from "react"
import { downloadCalls } from "../../../api/calls/call-pages.ts"
import { Button, LinkButton } from "../../../components/controls/button.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { saveFile } from "../../../components/controls/save-file.ts"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { formatCount } from "../../../format/numbers.ts"
import { useKeys } from "../../../keys/use-keys.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import type { TrainSearch } from "../train/train-search.ts"
import styles from "./selection-bar.module.css"

interface SelectionBarProps {
  project: CurrentProject
  /** Ids of calls. */
  picked: readonly string[]
  onClear: () => void
  /** Text while nothing is selected. */
  note: ReactNode
  /** The list's own filter, for training on all of it. */
  shown: TrainSearch
}

const route = getRouteApi("/signed-in/$entity/$project/traces")
/** More do not fit into an address; a filter says more in less. */
const mostQueued = 100
/** The API takes so many ids in one request. */
const mostDownloaded = 1000

export function SelectionBar({ project, picked, onClear, note, shown }: SelectionBarProps) {
  const [failure, setFailure] = useState<Error | null>(null)
  const download = async () => {
    setFailure(null)
    try {
      saveFile(await downloadCalls(project.id, picked), `${project.project}-calls.jsonl`)
    } catch (error) {
      setFailure(error as Error)
    }
  }
  const navigate = useNavigate()
  const comparison = {
    to: "/$entity/$project/traces/compare" as const,
    params: { entity: project.entity, project: project.project },
    search: { calls: picked.slice() },
  }
  const isPair = picked.length === 2
  useKeys(
    isPair
      ? [{ keys: "c", label: "compare the two selected", group: "Traces", run: () => void navigate(comparison) }]
      : [],
  )
  const train = (search: TrainSearch, words: string) => (
    <LinkButton
      icon={Zap}
      to="/$entity/$project/train"
      params={{ entity: project.entity, project: project.project }}
      search={search}
    >
      {words}
    </LinkButton>
  )
  const { q = "", from, to, scope } = route.useSearch()
  const toQueue = {
    to: "/$entity/$project/queues/new",
    params: { entity: project.entity, project: project.project },
  } as const
  if (picked.length === 0) {
    return (
      <div className={styles.bar}>
        {note}
        <span className={styles.actions}>
          <LinkButton
            size="small"
            kind="quiet"
            icon={Highlighter}
            {...toQueue}
            search={{ q, from, to, scope, all: true }}
          >
            Add all of these to a queue
          </LinkButton>
          {train(shown, "Train on all…")}
        </span>
      </div>
    )
  }
  return (
    <div className={styles.bar}>
      <b>{formatCount(picked.length)} selected</b>
      <Button size="small" kind="quiet" keys="Escape" onClick={onClear}>
        Clear
      </Button>
      {failure !== null && <ErrorNote what="The calls could not be downloaded." error={failure} />}
      <span className={styles.actions}>
        {isPair ? (
          <LinkButton icon={GitCompareArrows} keys="c" {...comparison}>
            Compare
          </LinkButton>
        ) : (
          <Button icon={GitCompareArrows} disabled title="Select two to compare them">
            Compare
          </Button>
        )}
        Ids <CopyButton text={picked.join("\n")} label="Copy the ids of the selected calls" isWordy />
        {picked.length > mostQueued ? (
          <Button icon={Highlighter} disabled title={`At most ${mostQueued} at once; a filter adds more`}>
            Add to queue
          </Button>
        ) : (
          <LinkButton icon={Highlighter} {...toQueue} search={{ calls: [...picked] }}>
            Add to queue
          </LinkButton>
        )}
        <Button
          icon={Download}
          onClick={() => void download()}
          disabled={picked.length > mostDownloaded}
          title={picked.length > mostDownloaded ? `At most ${mostDownloaded} at once` : undefined}
        >
          Download JSONL
        </Button>
        {picked.length <= mostDownloaded && train({ ids: [...picked] }, "Train on these…")}
      </span>
    </div>
  )
}
