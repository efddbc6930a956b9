import { Tag } from "../../../components/signs/tag.tsx"
import styles from "./aliases.module.css"

/** The aliases of a version, in their order. */
export function Aliases({ of }: { of: readonly string[] }) {
  return (
    <span className={styles.aliases}>
      {of.map((alias) => (
        <Tag key={alias}>{alias}</Tag>
      ))}
    </span>
  )
}
