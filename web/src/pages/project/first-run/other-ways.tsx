/** Ways to a first call that need no code, and where to go once it is there. */
import { Link } from "@tanstack/react-router"
import { ListTree, type LucideIcon, MessageSquare, Terminal, Upload } from "lucide-react"
import type { ReactNode } from "react"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { shellWord } from "../../../url/project-path.ts"
import type { Pulse } from "../use-pulse.ts"
import styles from "./other-ways.module.css"

interface OtherWaysProps {
  project: CurrentProject
  hasCome: boolean
  pulse: Pulse
}

export function OtherWays({ project, hasCome, pulse }: OtherWaysProps) {
  const { params } = project
  return (
    <div className={styles.ways}>
      {hasCome ? (
        <>
          <Link className={styles.way} to="/$entity/$project/traces" params={params}>
            <Title icon={ListTree}>Open the traces</Title>
            <p>
              {pulse.calls > 0
                ? "Calls with what went in and came out."
                : "Chat is counted; calls are recorded with Weave or OpenTelemetry."}
            </p>
          </Link>
          <Link className={styles.way} to="/$entity/$project/playground/{-$conversation}" params={params}>
            <Title icon={MessageSquare}>Ask a model in the playground</Title>
            <p>heddle/tiny, and every step that you train.</p>
          </Link>
        </>
      ) : (
        <>
          <div className={styles.way}>
            <Title icon={Terminal}>Or see the whole loop once</Title>
            <p>On the shipped model, in a minute or two: rollouts, training steps, a rising reward curve.</p>
            <Command text="npm run demo" />
          </div>
          <div className={styles.way}>
            <Title icon={Upload}>Or bring what you have</Title>
            <p>Calls, feedback and datasets as JSON Lines, CSV or Parquet.</p>
            <Command text={`npm run import -- --project ${shellWord(project.id)} --what calls --in calls.jsonl`} />
          </div>
        </>
      )}
    </div>
  )
}

function Title({ icon, children }: { icon: LucideIcon; children: ReactNode }) {
  return (
    <b className={styles.title}>
      <Icon of={icon} size={14} />
      {children}
    </b>
  )
}

function Command({ text }: { text: string }) {
  return (
    <div className={styles.command}>
      <code title={text}>{text}</code>
      <CopyButton text={text} label={`Copy: ${text}`} isWordy />
    </div>
  )
}
