/** How far people agree on each question, and how often they took what was suggested. */
import type { QueueAgreement } from "@heddle/server/wire/labelling/annotation-label.ts"
import { type Head, PlainTable } from "../../../../components/layout/plain-table.tsx"
import { formatCount } from "../../../../format/numbers.ts"
import type { LabelField } from "../../../../labelling/label-fields.ts"
import { share } from "./annotators-table.tsx"
import styles from "./queue-tables.module.css"

const heads: Head[] = [
  { name: "Question" },
  { name: "Items", className: styles.number },
  { name: "Equal", className: styles.number },
  { name: "kappa", className: styles.number },
  { name: "alpha", className: styles.number },
  { name: "alpha from 0 to 1", className: styles.chart },
  { name: "Taken", className: styles.taken },
]

/** Marks of how alpha is read: below the first, labels say little; from the second on they are good to rely on. */
const marks = [0.667, 0.8]
const width = 120

export function AgreementTable({ agreement, fields }: { agreement: QueueAgreement; fields: readonly LabelField[] }) {
  const names = [...new Set([...fields.map(({ name }) => name), ...agreement.fields.map(({ field }) => field)])]
  if (agreement.fields.every(({ units }) => units === 0) && agreement.suggestions.length === 0) {
    return (
      <p className={styles.none}>No item has two labels yet. Agreement shows once two people have labelled the same.</p>
    )
  }
  return (
    <PlainTable label="Agreement by question" heads={heads}>
      {names.map((name) => {
        const field = agreement.fields.find((one) => one.field === name)
        const taken = agreement.suggestions.find((one) => one.field === name)
        const alpha = field?.krippendorff_alpha_interval ?? field?.krippendorff_alpha_nominal ?? null
        return (
          <tr key={name} className={styles.row}>
            <td title={name}>{fields.find((one) => one.name === name)?.title ?? name}</td>
            <td className={styles.number}>{formatCount(field?.units ?? 0)}</td>
            <td className={styles.number}>{share(field?.percent_agreement)}</td>
            <td className={styles.number}>{coefficient(field?.cohen_kappa ?? field?.fleiss_kappa)}</td>
            <td className={styles.number}>
              <b>{coefficient(alpha)}</b>
            </td>
            <td className={styles.chart}>{alpha !== null && <Scale alpha={alpha} />}</td>
            <td
              className={styles.taken}
              title="Labels that say what was suggested, of those given while a suggestion was seen"
            >
              {taken === undefined ? "–" : `${formatCount(taken.accepted)} of ${formatCount(taken.offered)}`}
            </td>
          </tr>
        )
      })}
    </PlainTable>
  )
}

function Scale({ alpha }: { alpha: number }) {
  const x = (value: number) => 6 + Math.min(1, Math.max(0, value)) * (width - 12)
  return (
    <svg className={styles.scale} width={width} height="20" aria-hidden>
      <path className={styles.axis} d={`M${x(0)} 10H${x(1)}`} />
      {marks.map((mark) => (
        <path key={mark} className={styles.mark} d={`M${x(mark)} 2V18`} />
      ))}
      <circle className={styles.point} cx={x(alpha)} cy="10" r="4" />
    </svg>
  )
}

function coefficient(value: number | null | undefined): string {
  return value == null
    ? "–"
    : value
        .toFixed(2)
        .replace(/^(-?)0\./, "$1.")
        .replace("-", "−")
}
