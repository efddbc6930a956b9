/** Shows a version as a whole, or what differs from another one, and says from which. */
import type { ObjectVersion } from "../../../../api/objects/object-versions.ts"
import { Segmented } from "../../../../components/controls/segmented.tsx"
import styles from "./comparison-tools.module.css"

type Shown = "all" | "changes"

interface ComparisonToolsProps {
  label: string
  /** What the whole is called. */
  whole: string
  isComparing: boolean
  /** The newest first. */
  others: readonly ObjectVersion[]
  against: ObjectVersion | undefined
  onShow: (shown: Shown) => void
  /** As addresses name it: `v3`. */
  onAgainst: (name: string) => void
}

export function ComparisonTools(props: ComparisonToolsProps) {
  const { label, whole, isComparing, others, against, onShow, onAgainst } = props
  if (others.length === 0) return null
  return (
    <>
      <Segmented<Shown>
        size="small"
        label={label}
        value={isComparing ? "changes" : "all"}
        segments={[
          { value: "all", label: whole },
          { value: "changes", label: "Changes" },
        ]}
        onChange={onShow}
      />
      <label className={styles.field}>
        against
        <select
          className={styles.select}
          value={against === undefined ? "" : `v${against.version_index}`}
          onChange={(event) => onAgainst(event.target.value)}
        >
          {against === undefined && <option value="">…</option>}
          {others.map(({ digest, version_index: index }) => (
            <option key={digest}>{`v${index}`}</option>
          ))}
        </select>
      </label>
    </>
  )
}
