/** When a key ends by itself; soon is said with a sign. */
import { TriangleAlert } from "lucide-react"
import { useNow } from "../../../../clock/use-now.ts"
import { Icon } from "../../../../components/signs/icon.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import styles from "./key-end.module.css"

const dayMs = 24 * 3600 * 1000
const soonDays = 7

/** null: never. */
export function KeyEnd({ at }: { at: string | null }) {
  const now = useNow(60)
  if (at === null) return "never"
  // In whole days, as the time of the page is a little behind: a key that was made for a week ends soon at once.
  const isSoon = Math.floor((Date.parse(at) - now) / dayMs) <= soonDays
  return (
    <span className={isSoon ? styles.soon : undefined}>
      {isSoon && <Icon of={TriangleAlert} size={12} name="soon" />} <Time at={at} />
    </span>
  )
}
