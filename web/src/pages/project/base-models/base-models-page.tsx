/** Base models: those that ship with the server, and others that models of this project grew from. */
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import { useBaseModels, useModels } from "../../../api/training/training.ts"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { PlainTable } from "../../../components/layout/plain-table.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { Note } from "../../../components/states/note.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { useProjectOfPage } from "../../../shell/current-project.ts"
import { TrainingTabs } from "../training/training-tabs.tsx"
import styles from "./base-models-page.module.css"

const mostModels = 100

export function BaseModelsPage() {
  const project = useProjectOfPage()
  const shipped = useBaseModels()
  const models = useModels({ ...project.params, limit: mostModels })
  const heads = [
    { name: "Base model", className: styles.name },
    { name: "Where it comes from", className: styles.origin },
    {
      name: models.data?.has_more === true ? `Of the newest ${mostModels} models` : "Models of this project",
      className: styles.models,
    },
  ]
  const unread = models.error === null ? "reading…" : "not known"
  const grown = Map.groupBy(models.data?.data ?? [], ({ base_model }) => base_model)
  return (
    <>
      <PageBar title="Models & jobs" tab="Base models" />
      <TrainingTabs project={project} />
      <div className={styles.list}>
        {models.error !== null && (
          <ErrorNote
            what="The models of this project could not be read."
            error={models.error}
            onRetry={() => void models.refetch()}
          />
        )}
        <Loaded query={shipped} what="base models">
          {(names) => (
            <PlainTable label="Base models" heads={heads}>
              {[...new Set([...names, ...grown.keys()])].map((name) => (
                <tr key={name}>
                  <td className={styles.name}>
                    <span className={styles.copied}>
                      <code title={name}>{name}</code> <CopyButton text={name} label={`Copy ${name}`} />
                    </span>
                  </td>
                  <td className={styles.origin}>{names.includes(name) ? "ships with the server" : originOf(name)}</td>
                  <td className={styles.models}>
                    {models.data === undefined ? unread : <Models of={grown.get(name) ?? []} />}
                  </td>
                </tr>
              ))}
            </PlainTable>
          )}
        </Loaded>
        <div className={styles.note}>
          <Note>
            Others are named where a model is made: a path of the model hub such as <code>Qwen/Qwen3-0.6B</code>, or a
            folder on the server. Members may use those that the operator lists in <code>HEDDLE_BASE_MODELS</code>,
            administrators any.
          </Note>
        </div>
      </div>
    </>
  )
}

function originOf(name: string): string {
  return name.startsWith("/") ? "a folder on the server" : "the model hub"
}

function Models({ of }: { of: readonly ListedModel[] }) {
  if (of.length === 0) return "none"
  return of.map(({ id, entity, project, name }, index) => (
    <span key={id}>
      {index > 0 && ", "}
      <TextLink to="/$entity/$project/models/$name" params={{ entity, project, name }}>
        {name}
      </TextLink>
    </span>
  ))
}
