/** Which other version the shown one is compared with. */
import type { ObjectVersion } from "../../../../api/objects/object-versions.ts"
import styles from "./against-field.module.css"

interface AgainstFieldProps {
  /** The newest first. */
  others: readonly ObjectVersion[]
  against: ObjectVersion | undefined
  /** As addresses name it: `v3`. */
  onChange: (name: string) => void
}

export function AgainstField({ others, against, onChange }: AgainstFieldProps) {
  return (
    <label className={styles.field}>
      against
      <select
        className={styles.select}
        value={against === undefined ? "" : `v${against.version_index}`}
        onChange={(event) => onChange(event.target.value)}
      >
        {against === undefined && <option value="">…</option>}
        {others.map(({ digest, version_index: index }) => (
          <option key={digest}>{`v${index}`}</option>
        ))}
      </select>
    </label>
  )
}
