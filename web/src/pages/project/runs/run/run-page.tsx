/** One run of the wandb client: what it logged, with what settings, and what it left. */
import { getRouteApi } from "@tanstack/react-router"
import { Pencil } from "lucide-react"
import { useState } from "react"
import { useMayWrite } from "../../../../api/rights.ts"
import { type OfRun, type OneRun, useRun } from "../../../../api/runs/runs.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { CopyButton } from "../../../../components/controls/copy-button.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Split } from "../../../../components/layout/split.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { type CurrentProject, useProjectOfPage } from "../../../../shell/current-project.ts"
import { idle, underWay } from "../../training/live.ts"
import { RunCurves } from "../curves/run-curves.tsx"
import { RunMedia, useMediaNames } from "../media/run-media.tsx"
import { isUnderWay, RunState } from "../run-state.tsx"
import { metricDefinitions } from "../run-values.ts"
import { RunFacts } from "./run-facts.tsx"
import { RunSettings } from "./run-settings.tsx"
import styles from "./run-page.module.css"

const route = getRouteApi("/signed-in/$entity/$project/runs/$name")

export function RunPage() {
  const project = useProjectOfPage()
  const { name } = route.useParams()
  // Another run is another page: nothing of the first stays.
  return <RunOfName key={`${project.id}/${name}`} project={project} name={name} />
}

/** Heard of every 15 seconds while it runs. One that seems to have ended may go on, as when its machine was asleep. */
const intervalOf = (run: OneRun | null | undefined) => (isUnderWay(run) ? underWay : idle).refetchInterval

function RunOfName({ project, name }: { project: CurrentProject; name: string }) {
  const of = { ...project.params, run: name }
  const query = useRun(of, intervalOf)
  const run = query.data
  const [isEdited, setEdited] = useState(false)
  const mayWrite = useMayWrite(project.id)
  const path = `${project.id}/${name}`
  return (
    <>
      <PageBar
        title={run?.displayName || name}
        crumb={
          <TextLink isQuiet to="/$entity/$project/runs" params={project.params}>
            Runs
          </TextLink>
        }
        aside={
          run && (
            <span className={styles.aside} aria-live="polite">
              <RunState of={run.state} />
            </span>
          )
        }
        actions={
          run && (
            <>
              {mayWrite && (
                <Button kind="quiet" size="small" icon={Pencil} onClick={() => setEdited(true)}>
                  Edit
                </Button>
              )}
              <CopyButton text={path} isWordy words="Copy path" label="Copy path: the one that wandb.Api knows" />
            </>
          )
        }
      />
      {run && isEdited && <RunSettings project={project} run={run} onClose={() => setEdited(false)} />}
      <Loaded query={query} what="run">
        {(found) => (found === null ? <NoSuchRun name={name} project={project} /> : <Content of={of} run={found} />)}
      </Loaded>
    </>
  )
}

function Content({ of, run }: { of: OfRun; run: OneRun }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Split
      label="Width of the curves"
      name="run"
      start={66}
      first={
        <div className={styles.curves}>
          <p className={styles.state}>
            <RunState of={run.state} /> <Time at={run.createdAt} />
          </p>
          <RunCurves
            runs={[{ of, heardAt: run.heartbeatAt, name: run.displayName, color: "series-1", isDashed: false }]}
            definitions={metricDefinitions(run.config)}
            search={search}
            onChange={(changes) => void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })}
            none={<NoCurve of={of} run={run} />}
          >
            <RunMedia of={of} heardAt={run.heartbeatAt} config={run.config} />
          </RunCurves>
        </div>
      }
      second={<RunFacts of={of} run={run} />}
    />
  )
}

/** Charts, tables and pictures stand below it. */
function NoCurve({ of, run }: { of: OfRun; run: OneRun }) {
  const media = useMediaNames(of, run.heartbeatAt)
  if (media.length > 0) return null
  return (
    <Empty title="Nothing logged yet" {...(isUnderWay(run) ? { waitingFor: "the first numbers" } : {})}>
      <p>
        A curve appears here for every number that <code>run.log</code> is given, and what else it logs below them.
      </p>
    </Empty>
  )
}

function NoSuchRun({ name, project }: { name: string; project: CurrentProject }) {
  return (
    <Empty title="No such run">
      <p>
        There is no run <code>{name}</code> in {project.id}: it was deleted or never made.{" "}
        <TextLink to="/$entity/$project/runs" params={project.params}>
          All runs
        </TextLink>
      </p>
    </Empty>
  )
}
