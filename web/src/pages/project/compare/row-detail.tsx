/** One row: what the models were given, and what each run answered, word by word against the baseline. */
import { getRouteApi } from "@tanstack/react-router"
import { type ComparedRow, type ComparedTrial, useComparedRow } from "../../../api/evaluations/evaluations.ts"
import { Segmented } from "../../../components/controls/segmented.tsx"
import { Pane } from "../../../components/layout/pane.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { LongText } from "../../../components/text/long-text.tsx"
import { leafTexts, readableText } from "../../../evaluations/readable-text.ts"
import { memberTexts } from "../../../json/json-text.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import type { ComparedRun } from "./compared-run.ts"
import { OutputDiff } from "./output-diff.tsx"
import styles from "./row-detail.module.css"
import { RunMark } from "./run-mark.tsx"

const route = getRouteApi("/signed-in/$entity/$project/compare")

interface RowDetailProps {
  project: CurrentProject
  /** The baseline first. */
  runs: readonly ComparedRun[]
  digest: string
}

export function RowDetail({ project, runs, digest }: RowDetailProps) {
  const { diff = "words", trial = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const row = useComparedRow(
    project.id,
    runs.map(({ run }) => run),
    digest,
  )
  const trials = Math.max(1, ...(row.data?.runs ?? []).map((run) => run.trials.length))
  const shown = Math.min(Math.max(1, Math.round(trial)), trials)
  return (
    <Pane
      title="Row"
      note={<code title={digest}>{digest.slice(0, 10)}</code>}
      tools={
        <>
          {trials > 1 && (
            <Segmented
              label="Trial"
              size="small"
              value={`${shown}`}
              segments={Array.from({ length: Math.min(trials, mostTrials) }, (_, index) => ({
                value: `${index + 1}`,
                label: `${index + 1}`,
              }))}
              onChange={(next) =>
                void navigate({ search: (before) => ({ ...before, trial: Number(next) }), replace: true })
              }
            />
          )}
          <Segmented
            label="Difference"
            size="small"
            value={diff}
            segments={[
              { value: "words", label: "Words" },
              { value: "off", label: "Off" },
            ]}
            onChange={(next) =>
              void navigate({
                search: (before) => ({ ...before, diff: next === "off" ? next : undefined }),
                replace: true,
              })
            }
          />
        </>
      }
    >
      <Loaded query={row} what="row">
        {(data) =>
          data === null ? (
            <p className={styles.none}>This row is not there any more.</p>
          ) : (
            <RowContent project={project} runs={runs} row={data} trial={shown - 1} isDiff={diff === "words"} />
          )
        }
      </Loaded>
    </Pane>
  )
}

/** Further ones are in the traces. */
const mostTrials = 8

interface RowContentProps {
  project: CurrentProject
  runs: readonly ComparedRun[]
  row: ComparedRow
  /** From 0. */
  trial: number
  isDiff: boolean
}

function RowContent({ project, runs, row, trial, isDiff }: RowContentProps) {
  const answers = runs.map(({ run }) => row.runs.find(({ runId }) => runId === run.id)?.trials[trial])
  const texts = answers.map((answer) => (answer === undefined ? null : readableText(answer.output)))
  const [baseline = null] = texts
  return (
    <>
      <div className={styles.data}>
        <RowData data={row.data} />
      </div>
      <div className={styles.answers}>
        {runs.map(({ run, label }, index) => {
          const [answer, text = null] = [answers[index], texts[index]]
          return (
            <section key={run.id} className={styles.answer} aria-label={`Answer of ${label}`}>
              <h3 className={styles.title}>
                <RunMark index={index} />
                <span className={styles.name}>{label}</span>
                {answer !== undefined && <ToTrace project={project} runs={runs} index={index} answer={answer} />}
              </h3>
              {text === null ? (
                <p className={styles.none}>This run has no such trial of the row.</p>
              ) : isDiff ? (
                <OutputDiff
                  baseline={baseline}
                  text={text}
                  side={index === 0 ? "baseline" : "candidate"}
                  other={texts[1] ?? null}
                />
              ) : (
                <LongText text={text} />
              )}
              {answer !== undefined && <Scores answer={answer} />}
            </section>
          )
        })}
      </div>
    </>
  )
}

interface ToTraceProps {
  project: CurrentProject
  runs: readonly ComparedRun[]
  index: number
  answer: ComparedTrial
}

function ToTrace({ project, runs, index, answer }: ToTraceProps) {
  const run = runs[index]?.run
  return (
    run && (
      <TextLink
        className={styles.trace}
        to="/$entity/$project/traces/$trace"
        params={{ ...project.params, trace: run.traceId }}
        search={{ span: answer.id }}
      >
        trace
      </TextLink>
    )
  )
}

/** Each member of the row under its name; what is no object as it is. */
function RowData({ data }: { data: ComparedRow["data"] }) {
  if (!data.startsWith("{")) return <LongText text={readableText(data)} />
  return Array.from(memberTexts(data), ([name, value]) => (
    <div key={name} className={styles.member}>
      <h3 className={styles.label}>{name}</h3>
      <LongText text={readableText(value)} />
    </div>
  ))
}

/** As the scorers gave them, reasons included. */
function Scores({ answer }: { answer: ComparedTrial }) {
  const leaves = leafTexts(answer.scores)
  if (leaves.length === 0) return null
  return (
    <dl className={styles.scores}>
      {leaves.map(({ name, value }) => (
        <div key={name} className={styles.score}>
          <dt>{name}</dt>
          <dd>{readableText(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
