/** Who labels: how much, when last, and how often they say what the others say, question by question. */
import type { QueueAgreement } from "@heddle/server/wire/labelling/annotation-label.ts"
import { type Head, PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Avatar } from "../../../../components/signs/avatar.tsx"
import { Status } from "../../../../components/signs/status.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { formatCount } from "../../../../format/numbers.ts"
import type { LabelField } from "../../../../labelling/label-fields.ts"
import type { QueueWork } from "../label/labelling.tsx"
import styles from "./queue-tables.module.css"

interface AnnotatorsTableProps {
  work: QueueWork
  /** null: not known yet. */
  agreement: QueueAgreement | null
  fields: readonly LabelField[]
}

/** More questions than these have no column of their own. */
const mostColumns = 4

export function AnnotatorsTable({ work, agreement, fields }: AnnotatorsTableProps) {
  if (work.annotators.length === 0) {
    return (
      <p className={styles.none}>Nobody has labelled yet. Whoever may label here opens the queue and presses Label.</p>
    )
  }
  const columns = fields.slice(0, mostColumns)
  const heads: Head[] = [
    { name: "Person" },
    { name: "Last", className: styles.time },
    { name: "Done", className: styles.number },
    { name: "Skipped", className: styles.optional },
    { name: "Equal", className: styles.number },
    ...columns.map(({ name }) => ({ name, className: styles.optional })),
  ]
  return (
    <PlainTable label="Annotators, with the share of pairs in which each says what another says" heads={heads}>
      {work.annotators.map((one) => {
        const agrees = agreement?.annotators.find((other) => other.annotator_user_id === one.annotator_user_id)
        return (
          <tr key={one.annotator_user_id} className={styles.row}>
            <td>
              <span className={styles.person}>
                <Avatar name={one.username ?? "?"} />
                {one.username ?? "a user who is gone"}
              </span>
            </td>
            <td className={styles.time}>
              {one.holding > 0 ? <Status of="running">now</Status> : <Time at={one.last_active_at} show="ago" />}
            </td>
            <td className={styles.number}>{formatCount(one.completed)}</td>
            <td className={styles.optional}>{formatCount(one.skipped)}</td>
            <td className={styles.number}>{share(agrees?.percent_agreement)}</td>
            {columns.map(({ name }) => (
              <td key={name} className={styles.optional}>
                {share(agrees?.fields.find(({ field }) => field === name)?.percent_agreement)}
              </td>
            ))}
          </tr>
        )
      })}
    </PlainTable>
  )
}

/** "–": nobody else has labelled the same. */
export function share(value: number | null | undefined): string {
  return value == null ? "–" : `${Math.round(value * 100)} %`
}
