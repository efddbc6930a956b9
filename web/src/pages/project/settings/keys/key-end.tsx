/** When a key ends by itself; soon is said with a sign. */
import { TriangleAlert } from "lucide-react"
import { useNow } from "../../../../clock/use-now.ts"
import { Icon } from "../../../../components/signs/icon.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import styles from "./key-end.module.css"

const soonMs = 7 * 24 * 3600 * 1000

/** null: never. */
export function KeyEnd({ at }: { at: string | null }) {
  const now = useNow(60)
  if (at === null) return "never"
  const isSoon = Date.parse(at) - now < soonMs
  return (
    <span className={isSoon ? styles.soon : undefined}>
      {isSoon && <Icon of={TriangleAlert} size={12} name="soon" />} <Time at={at} />
    </span>
  )
}
