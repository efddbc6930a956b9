/** One step of a model: what it learned against the step before, and what can be done with it. */
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import { getRouteApi } from "@tanstack/react-router"
import { ChevronLeft, ChevronRight, MessageSquare } from "lucide-react"
import { type ReadCheckpoint, useCheckpoint, useModelMetrics, useModels } from "../../../../api/training/training.ts"
import { serverUrl } from "../../../../base-path.ts"
import { LinkButton } from "../../../../components/controls/button.tsx"
import { CopyButton } from "../../../../components/controls/copy-button.tsx"
import { KeyValue, KeyValues } from "../../../../components/layout/key-values.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Pane } from "../../../../components/layout/pane.tsx"
import { Split } from "../../../../components/layout/split.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { Code } from "../../../../components/text/code.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { formatBytes } from "../../../../format/sizes.ts"
import { type CurrentProject, useProjectOfPage } from "../../../../shell/current-project.ts"
import { NoSuchModel } from "../../training/no-such-model.tsx"
import { chatCode } from "./chat-code.ts"
import { DeleteStep } from "./delete-step.tsx"
import { StepFiles } from "./step-files.tsx"
import { StepMetrics } from "./step-metrics.tsx"
import styles from "./step-page.module.css"

const route = getRouteApi("/signed-in/$entity/$project/models/$name/steps/$step")

export function StepPage() {
  const project = useProjectOfPage()
  const { name, step } = route.useParams()
  return <OneStep key={`${project.id}/${name}`} project={project} name={name} step={Number(step)} />
}

function OneStep({ project, name, step }: { project: CurrentProject; name: string; step: number }) {
  const models = useModels({ ...project.params, name, limit: 1 })
  const model = models.data?.data[0]
  const newest = model?.latest_step ?? step
  const params = { ...project.params, name }
  const to = "/$entity/$project/models/$name/steps/$step"
  return (
    <>
      <PageBar
        title={`step ${step}`}
        tab={`${name} step ${step}`}
        crumb={
          <TextLink isQuiet to="/$entity/$project/models/$name" params={params}>
            {name}
          </TextLink>
        }
        actions={
          <>
            {step > 0 && (
              <LinkButton
                icon={ChevronLeft}
                to={to}
                params={{ ...params, step: `${step - 1}` }}
                aria-label="Step before"
              />
            )}
            {step < newest && (
              <LinkButton
                icon={ChevronRight}
                to={to}
                params={{ ...params, step: `${step + 1}` }}
                aria-label="Next step"
              />
            )}
          </>
        }
      />
      <Loaded query={models} what="model">
        {() =>
          model === undefined ? (
            <NoSuchModel name={name} project={project} />
          ) : (
            <StepContent key={step} model={model} project={project} step={step} />
          )
        }
      </Loaded>
    </>
  )
}

function StepContent({ model, project, step }: { model: ListedModel; project: CurrentProject; step: number }) {
  const checkpoint = useCheckpoint(model.id, step)
  const range = { from_step: Math.max(0, step - 1), to_step: step }
  const metrics = useModelMetrics({ model_id: [model.id], ...range })
  return (
    <Split
      label="Width of the metrics"
      name="step"
      start={60}
      first={
        <Pane title="Metrics" note={step > 0 ? `beside step ${step - 1}` : undefined}>
          <Loaded query={metrics} what="metrics">
            {({ data }) => <StepMetrics curves={data[0]?.curves ?? []} step={step} />}
          </Loaded>
        </Pane>
      }
      second={
        <Pane title="Checkpoint">
          {checkpoint.error === null ? (
            <Loaded query={checkpoint} what="checkpoint">
              {(found) => <Checkpoint checkpoint={found} model={model} project={project} />}
            </Loaded>
          ) : (
            <div className={styles.body}>
              <ErrorNote what="There is nothing to chat with or to load." error={checkpoint.error} />
            </div>
          )}
        </Pane>
      }
    />
  )
}

interface CheckpointProps {
  checkpoint: ReadCheckpoint
  model: ListedModel
  project: CurrentProject
}

function Checkpoint({ checkpoint, model, project }: CheckpointProps) {
  const { artifact, job_id: id, size_bytes: size, base_model: base } = checkpoint
  return (
    <div className={styles.body}>
      <KeyValues>
        <KeyValue name="Name">
          <span className={styles.copied}>
            <code>{artifact}</code> <CopyButton text={artifact} label="Copy the name" />
          </span>
        </KeyValue>
        <KeyValue name="Base model">
          <code>{base}</code>
        </KeyValue>
        <KeyValue name="Made">
          <Time at={checkpoint.created_at} />
          {id !== null && (
            <>
              {" by "}
              <TextLink to="/$entity/$project/jobs/$id" params={{ ...project.params, id }}>
                this job
              </TextLink>
            </>
          )}
        </KeyValue>
        <KeyValue name="Size">{size === 0 ? "none: it is the base model itself" : formatBytes(size)}</KeyValue>
      </KeyValues>
      <h3 className={styles.title}>Chat with this step</h3>
      <LinkButton
        icon={MessageSquare}
        to="/$entity/$project/playground/{-$conversation}"
        params={project.params}
        search={{ m: [`${model.name}@${checkpoint.step}`] }}
      >
        Open in playground
      </LinkButton>
      <Code
        label="Code that chats with this step"
        code={chatCode({ server: serverUrl, project: project.id, artifact })}
      />
      {size > 0 && <StepFiles model={model} step={checkpoint.step} />}
      <DeleteStep project={project} model={model} step={checkpoint.step} sizeBytes={size} />
    </div>
  )
}
