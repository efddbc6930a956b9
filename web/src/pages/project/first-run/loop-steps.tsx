/** The loop as six steps, those that are done marked. */
import { CircleCheck, GitCompare, Grid3x3, Highlighter, ListTree, type LucideIcon, RotateCcw, Zap } from "lucide-react"
import { classNames } from "../../../components/class-names.ts"
import { Icon } from "../../../components/signs/icon.tsx"
import { isQuiet, type Pulse } from "../use-pulse.ts"
import styles from "./loop-steps.module.css"

const steps: readonly [LucideIcon, string][] = [
  [ListTree, "See a call"],
  [Zap, "Train a step"],
  [Grid3x3, "Look at its tokens"],
  [GitCompare, "Compare steps"],
  [Highlighter, "Label ten items"],
  [RotateCcw, "Train on them"],
]

export function LoopSteps({ pulse }: { pulse: Pulse }) {
  const done = isQuiet(pulse) ? 0 : 1
  return (
    <div className={styles.loop}>
      <h3 className={styles.title}>The loop, once</h3>
      <ol className={styles.steps}>
        {steps.map(([icon, name], index) => (
          <li
            key={name}
            className={classNames(styles.step, index < done && styles.done, index === done && styles.next)}
            aria-current={index === done ? "step" : undefined}
          >
            <span className={styles.thread}>
              <Icon of={index < done ? CircleCheck : icon} size={14} {...(index < done ? { name: "done" } : {})} />
            </span>
            {name}
          </li>
        ))}
      </ol>
    </div>
  )
}
