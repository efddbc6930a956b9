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
import { listForAddress, mostInAddress } from "../../../kept/kept-list.ts"
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
/** The API takes so many ids in one request. */
const mostTogether = 1000

export function SelectionBar({ project, picked, onClear, note, shown }: SelectionBarProps) {
  const [failure, setFailure] = useState<{ what: string; error: Error } | null>(null)
  const download = async () => {
    setFailure(null)
    try {
      saveFile(await downloadCalls(project.id, picked), `${project.project}-calls.jsonl`)
    } catch (error) {
      setFailure({ what: "The calls could not be downloaded.", error: error as Error })
    }
  }
  const navigate = useNavigate()
  const comparison = {
    to: "/$entity/$project/traces/compare" as const,
    params: project.params,
    search: { calls: picked.slice() },
  }
  const isPair = picked.length === 2
  useKeys(
    isPair
      ? [{ keys: "c", label: "compare the two selected", group: "Traces", run: () => void navigate(comparison) }]
      : [],
  )
  const { params } = project
  const toTraining = { to: "/$entity/$project/train", params } as const
  const toQueue = { to: "/$entity/$project/queues/new", params } as const
  const { q = "", from, to, scope } = route.useSearch()
  const isLong = picked.length > mostInAddress
  /** Goes on with a list that is no part of a link. */
  const withKept = (go: (list: string[]) => Promise<void>) => () => {
    setFailure(null)
    const list = listForAddress(localStorage, picked)
    if (list !== null) return void go(list)
    const error = new Error(`This browser has no room to keep them. Select at most ${mostInAddress}, or filter.`)
    setFailure({ what: "The selection could not be taken along.", error })
  }
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
          <LinkButton icon={Zap} {...toTraining} search={shown}>
            Train on all…
          </LinkButton>
        </span>
      </div>
    )
  }
  const tooMany =
    picked.length > mostTogether
      ? { disabled: true, title: `At most ${formatCount(mostTogether)} at once; a filter takes more` }
      : {}
  return (
    <div className={styles.bar}>
      <b>{formatCount(picked.length)} selected</b>
      <Button size="small" kind="quiet" keys="Escape" onClick={onClear}>
        Clear
      </Button>
      {failure !== null && <ErrorNote what={failure.what} error={failure.error} />}
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
        {isLong ? (
          <Button
            icon={Highlighter}
            {...tooMany}
            onClick={withKept((calls) => navigate({ ...toQueue, search: { calls } }))}
          >
            Add to queue
          </Button>
        ) : (
          <LinkButton icon={Highlighter} {...toQueue} search={{ calls: [...picked] }}>
            Add to queue
          </LinkButton>
        )}
        <Button icon={Download} {...tooMany} onClick={() => void download()}>
          Download JSONL
        </Button>
        {isLong ? (
          <Button icon={Zap} {...tooMany} onClick={withKept((ids) => navigate({ ...toTraining, search: { ids } }))}>
            Train on these…
          </Button>
        ) : (
          <LinkButton icon={Zap} {...toTraining} search={{ ids: [...picked] }}>
            Train on these…
          </LinkButton>
        )}
      </span>
    </div>
  )
}
