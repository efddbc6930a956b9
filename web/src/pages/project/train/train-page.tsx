/** Train on these: what would be trained on what was chosen elsewhere, then the job. Everything that is set is in the address. */
import { getRouteApi } from "@tanstack/react-router"
import { Zap } from "lucide-react"
import { useState } from "react"
import { useDryRun, useTrainFrom } from "../../../api/training/train-from.ts"
import { FilterError } from "../../../calls/filter/filter-text.ts"
import { Button } from "../../../components/controls/button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { PaneHead } from "../../../components/layout/pane.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { SkeletonRows } from "../../../components/states/skeleton.tsx"
import { counted } from "../../../format/counted.ts"
import { useKeys } from "../../../keys/use-keys.ts"
import { listOfAddress } from "../../../kept/kept-list.ts"
import { useProjectOfPage } from "../../../shell/current-project.ts"
import { useWhileShown } from "../../../url/use-while-shown.ts"
import { LostSelection } from "../lost-selection.tsx"
import { DryRun } from "./dry-run.tsx"
import { TrainForm } from "./train-form.tsx"
import styles from "./train-page.module.css"
import { type TrainRequest, trainRequest } from "./train-request.ts"
import { modeOf, type TrainSearch } from "./train-search.ts"
import { useTrainedModels } from "./use-trained-models.ts"

const route = getRouteApi("/signed-in/$entity/$project/train")

const wordsOf = {
  sft: { from: "from examples", unit: "row" },
  rl: { from: "from rewards", unit: "answer" },
  dpo: { from: "from preferences", unit: "pair" },
} as const

export function TrainPage() {
  const address = route.useSearch()
  const ids = listOfAddress(localStorage, address.ids ?? [])
  return ids === null ? <LostSelection /> : <Train search={{ ...address, ids }} />
}

/** `search`: the address, with the calls that it stands for. */
function Train({ search }: { search: TrainSearch }) {
  const project = useProjectOfPage()
  const navigate = route.useNavigate()
  const whileShown = useWhileShown()
  const [openedAt] = useState(() => Date.now())
  const models = useTrainedModels(project, search)
  const { chosen } = models
  const request = requestOf(search, project.id, chosen?.id ?? null, openedAt)
  const body = "body" in request ? request.body : null
  const dryRun = useDryRun(body)
  const start = useTrainFrom()
  const change = (next: Partial<TrainSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true })
  const rows = body === null || dryRun.isFetching ? null : (dryRun.data?.rows ?? null)
  const begin = () => {
    if (body === null || rows === null || rows === 0 || start.isPending) return
    start.mutate(body, {
      onSuccess: ({ id }) => {
        const params = { ...project.params, id }
        void whileShown(() => navigate({ to: "/$entity/$project/jobs/$id", params }))
      },
    })
  }
  useKeys([{ keys: "mod+Enter", label: "start the job", group: "Train", isEverywhere: true, run: begin }])
  const words = wordsOf[modeOf(search)]
  const ready = rows === null ? null : (dryRun.data?.pairs ?? rows)
  return (
    <div className={styles.page}>
      <PageBar title="Train on these" aside={<span>{words.from}</span>} />
      <div className={styles.halves}>
        <TrainForm project={project} search={search} models={models} now={openedAt} onChange={change} />
        <section className={styles.dryRun} aria-label="Dry run">
          <PaneHead
            title="Dry run"
            note="nothing is stored or trained yet"
            tools={
              <Button size="small" disabled={body === null || dryRun.isFetching} onClick={() => void dryRun.refetch()}>
                Run again
              </Button>
            }
          />
          <div className={styles.found} aria-busy={dryRun.isFetching} tabIndex={0}>
            {models.isReading ? (
              <SkeletonRows what="Reading models" />
            ) : models.gone !== null ? (
              <p className={styles.missing}>
                There is no model <b>{models.gone}</b> in this project: it was deleted or never made. Choose another
                one.
              </p>
            ) : "missing" in request ? (
              <p className={styles.missing}>{request.missing}</p>
            ) : (
              <Loaded query={dryRun} what="rows">
                {(found) => <DryRun project={project} found={found} isOld={dryRun.isFetching} />}
              </Loaded>
            )}
          </div>
        </section>
      </div>
      <footer className={styles.foot}>
        {start.error !== null && <ErrorNote what="The job was not made." error={start.error} />}
        <span className={styles.note}>
          The rows are read once more when the job is made, and stay as they are then.
        </span>
        <Button
          kind="primary"
          icon={Zap}
          keys="mod+Enter"
          disabled={rows === null || rows === 0 || start.isPending}
          onClick={begin}
        >
          {ready === null ? "Start" : `Start on ${counted(ready, words.unit)}`}
        </Button>
      </footer>
    </div>
  )
}

function requestOf(search: TrainSearch, project: string, modelId: string | null, now: number): TrainRequest {
  try {
    return trainRequest(search, project, modelId, now)
  } catch (error) {
    if (error instanceof FilterError) return { missing: error.message }
    throw error
  }
}
