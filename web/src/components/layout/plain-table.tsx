/** A table of a few rows, all of them drawn. Long ones are `data-table/data-table.tsx`. */
import type { ReactNode } from "react"
import { ForReaders } from "../text/for-readers.tsx"
import styles from "./plain-table.module.css"

interface PlainTableProps {
  /** Name of the table for screen readers. */
  label: string
  heads: readonly Head[]
  /** The rows speak for themselves; readers still hear the heads. */
  isHeadHidden?: boolean
  /** `<tr>`s */
  children: ReactNode
}

export interface Head {
  name: string
  /** The same as of the column's cells: its width, and whether a narrow screen leaves it out. */
  className?: string | undefined
  /** Before the name: which line of a chart the column is of. */
  mark?: ReactNode
}

export function PlainTable({ label, heads, isHeadHidden = false, children }: PlainTableProps) {
  return (
    <table className={styles.table}>
      <caption>
        <ForReaders>{label}</ForReaders>
      </caption>
      <thead className={isHeadHidden ? styles.hidden : styles.head}>
        <tr>
          {heads.map(({ name, className, mark }) => (
            <th key={name} scope="col" className={className} title={isHeadHidden ? undefined : name}>
              {mark !== undefined && <>{mark} </>}
              {isHeadHidden ? <ForReaders>{name}</ForReaders> : name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
