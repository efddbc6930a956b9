/** How far a queue is: a bar of its items by what became of them, each with its number. */
import { classNames } from "../../../components/class-names.ts"
import { formatCount } from "../../../format/numbers.ts"
import type { QueueWork } from "./label/labelling.tsx"
import styles from "./progress-stack.module.css"

interface ProgressStackProps {
  work: QueueWork
  /** A line alone: numbers stand elsewhere. */
  isSmall?: boolean
}

const parts = [
  ["finished", "finished"],
  ["part", "some of the labels"],
  ["held", "being labelled"],
  ["returned", "skipped"],
  ["open", "open"],
] as const

export function ProgressStack({ work, isSmall = false }: ProgressStackProps) {
  const shown = parts.filter(([key]) => work.items[key] > 0)
  const words = shown.map(([key, name]) => `${formatCount(work.items[key])} ${name}`).join(", ")
  return (
    <>
      <div
        className={classNames(styles.stack, isSmall && styles.small)}
        role="img"
        aria-label={words === "" ? "no items" : words}
        title={words}
      >
        {shown.map(([key]) => (
          <i key={key} className={styles[key]} style={{ flexGrow: work.items[key] }} />
        ))}
      </div>
      {!isSmall && (
        <ul className={styles.legend}>
          {shown.map(([key, name]) => (
            <li key={key}>
              <i className={styles[key]} />
              {name} <b>{formatCount(work.items[key])}</b>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
