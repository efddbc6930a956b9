/** The loop: train, serve, trace, evaluate, label, train again, each with its one figure. */
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { classNames } from "../../../components/class-names.ts"
import { type Station, stations } from "../../../components/layout/stations.ts"
import { Count } from "../../../components/signs/figures.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { counted, nounOf } from "../../../format/counted.ts"
import { formatDuration } from "../../../format/durations.ts"
import { formatCount, formatShare, thinSpace } from "../../../format/numbers.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import type { WindowName } from "../time-window.ts"
import styles from "./loop-strip.module.css"
import { useLoopFigures } from "./use-loop-figures.ts"

/** Keeps the height of a line, which a plain space does not. */
const emptyLine = "\u00a0"

interface LoopStripProps {
  project: CurrentProject
  since: WindowName
}

export function LoopStrip({ project, since }: LoopStripProps) {
  const { training, serving, tracing, evaluating, labelling } = useLoopFigures(project, since)
  return (
    <nav className={styles.loop} aria-label="The loop">
      <Stop
        station="train"
        to="models"
        project={project}
        isLive={training?.running !== undefined}
        figure={
          training &&
          (training.running === undefined ? (
            <Figure unit={nounOf(training.jobs, "job")}>
              <Count of={training.jobs} isWhole={training.isAll} />
            </Figure>
          ) : training.running.share === null ? (
            <Figure unit={`of ${training.running.model}`}>starts</Figure>
          ) : (
            <Figure
              unit={`of ${training.running.model}`}
            >{`${Math.floor(training.running.share * 100)}${thinSpace}%`}</Figure>
          ))
        }
        note={
          training &&
          (training.running !== undefined ? (
            training.running.detail
          ) : training.newest === null ? (
            "none yet"
          ) : (
            <>
              the last ended <Time at={training.newest} show="ago" />
            </>
          ))
        }
      />
      <Stop
        station="serve"
        to="models"
        project={project}
        figure={
          serving && (
            <Figure unit={nounOf(serving.requests, "chat request")}>
              <Count of={serving.requests} />
            </Figure>
          )
        }
        note={serving && `${counted(serving.tokens, "token")}, ${counted(serving.models, "model")}`}
      />
      <Stop
        station="trace"
        to="traces"
        project={project}
        figure={
          tracing && (
            <Figure unit={nounOf(tracing.calls, "call")}>
              <Count of={tracing.calls} />
            </Figure>
          )
        }
        note={
          tracing &&
          (tracing.calls === 0
            ? "none in this time"
            : `${formatShare(tracing.errors / tracing.calls)} errors${tracing.p95 === null ? "" : `, p95 up to ${formatDuration(tracing.p95)}`}`)
        }
      />
      <Stop
        station="evaluate"
        to="evaluations"
        project={project}
        figure={
          evaluating && (
            <Figure unit={nounOf(evaluating.runs, "run")}>
              <Count of={evaluating.runs} isWhole={evaluating.isAll} />
            </Figure>
          )
        }
        note={
          evaluating &&
          (evaluating.newest === null ? (
            "none yet"
          ) : (
            <>
              the newest <Time at={evaluating.newest} show="ago" />
            </>
          ))
        }
      />
      <Stop
        station="label"
        to="queues"
        project={project}
        figure={
          labelling && (
            <Figure unit={`of ${formatCount(labelling.total)}`}>
              <Count of={labelling.completed} />
            </Figure>
          )
        }
        note={labelling && (labelling.queues === 0 ? "no queue yet" : `items in ${counted(labelling.queues, "queue")}`)}
      />
      <Stop
        station="again"
        to="queues"
        project={project}
        figure={
          labelling && (
            <Figure unit={nounOf(labelling.completed, "labelled item")}>
              <Count of={labelling.completed} />
            </Figure>
          )
        }
        note={labelling && (labelling.completed === 0 ? "label calls to train on them" : "may be trained on")}
      />
    </nav>
  )
}

function Figure({ unit, children }: { unit: ReactNode; children: ReactNode }) {
  return (
    <>
      {children} <small className={styles.unit}>{unit}</small>
    </>
  )
}

interface StopProps {
  station: Station
  to: "models" | "traces" | "evaluations" | "queues"
  project: CurrentProject
  isLive?: boolean
  /** undefined: not read yet. */
  figure: ReactNode
  note: ReactNode
}

function Stop({ station, to, project, isLive = false, figure, note }: StopProps) {
  const { icon, name } = stations[station]
  return (
    <Link
      to={`/$entity/$project/${to}`}
      params={project.params}
      className={classNames(styles.stop, isLive && styles.live)}
    >
      <span className={styles.name}>
        <Icon of={icon} size={14} />
        {name}
      </span>
      <span className={styles.figure}>{figure ?? emptyLine}</span>
      <span className={styles.note}>{note ?? emptyLine}</span>
    </Link>
  )
}
