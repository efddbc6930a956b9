/** One model: what it learned step by step, beside others, and the steps that are kept. */
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import { getRouteApi } from "@tanstack/react-router"
import { MessageSquare } from "lucide-react"
import { useModelMetrics, useModels } from "../../../../api/training/training.ts"
import { LinkButton } from "../../../../components/controls/button.tsx"
import { CopyButton } from "../../../../components/controls/copy-button.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Split } from "../../../../components/layout/split.tsx"
import { Status } from "../../../../components/signs/status.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { type CurrentProject, useProjectOfPage } from "../../../../shell/current-project.ts"
import { idle, underWay } from "../../training/live.ts"
import { NoSuchModel } from "../../training/no-such-model.tsx"
import { ModelCurves } from "./model-curves.tsx"
import styles from "./model-page.module.css"
import { counted } from "../../../../format/counted.ts"
import { ModelSteps } from "./model-steps.tsx"

const route = getRouteApi("/signed-in/$entity/$project/models/$name")

export function ModelPage() {
  const project = useProjectOfPage()
  const { name } = route.useParams()
  // Another model is another page: nothing of the first stays.
  return <OneModel key={`${project.id}/${name}`} project={project} name={name} />
}

function OneModel({ project, name }: { project: CurrentProject; name: string }) {
  const models = useModels({ ...project.params, name, limit: 1 }, underWay)
  const model = models.data?.data[0]
  return (
    <>
      <PageBar
        title={name}
        crumb={<ToModels project={project} />}
        aside={model && <ModelAside model={model} project={project} />}
        actions={
          model && (
            <>
              <LinkButton
                icon={MessageSquare}
                to="/$entity/$project/playground/{-$conversation}"
                params={project.params}
                search={{ m: [`${name}@latest`] }}
              >
                Open in playground
              </LinkButton>
              <CopyButton
                text={artifactOf(model)}
                isWordy
                words="Copy name"
                label="Copy name: the one that chat knows"
              />
            </>
          )
        }
      />
      <Loaded query={models} what="model">
        {() => (model === undefined ? <NoSuchModel name={name} project={project} /> : <ModelContent model={model} />)}
      </Loaded>
    </>
  )
}

function ModelContent({ model }: { model: ListedModel }) {
  const live = model.open_jobs > 0 ? underWay : idle
  const names = useModelMetrics({ model_id: [model.id], from_step: 0, to_step: 0 }, live)
  return (
    <Split
      label="Width of the curves"
      name="model"
      start={68}
      first={
        <div className={styles.curves}>
          <Loaded query={names} what="metrics">
            {({ data }) => <ModelCurves model={model} metrics={data[0]?.metrics ?? []} live={live} />}
          </Loaded>
        </div>
      }
      second={<ModelSteps model={model} live={live} />}
    />
  )
}

function ModelAside({ model, project }: { model: ListedModel; project: CurrentProject }) {
  return (
    <span className={styles.aside}>
      <code>{model.base_model}</code>
      {model.open_jobs > 0 && (
        <TextLink to="/$entity/$project/jobs" params={project.params}>
          <Status of="running">{counted(model.open_jobs, "open job")}</Status>
        </TextLink>
      )}
    </span>
  )
}

function ToModels({ project }: { project: CurrentProject }) {
  return (
    <TextLink isQuiet to="/$entity/$project/models" params={project.params}>
      Models
    </TextLink>
  )
}

/** The newest step, whichever it is. */
function artifactOf({ entity, project, name }: ListedModel): string {
  return `wandb-artifact:///${entity}/${project}/${name}`
}
