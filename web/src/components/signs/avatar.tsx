/** A person by the first letters of their name, which stands in the title. */
import styles from "./avatar.module.css"

export function Avatar({ name }: { name: string }) {
  return (
    <span className={styles.avatar} title={name} aria-hidden>
      {initials(name)}
    </span>
  )
}

function initials(name: string): string {
  const words = name.split(/[\s._-]+/).filter((word) => word !== "")
  const letters = words.length > 1 ? words.slice(0, 2).map((word) => word.charAt(0)) : [name.slice(0, 2)]
  return letters.join("").toUpperCase()
}
