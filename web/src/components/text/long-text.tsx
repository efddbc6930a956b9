/** Plain text as it came. A very long one is cut, and the rest comes on demand. */
import { useState } from "react"
import { formatBytes } from "../../format/sizes.ts"
import { Button } from "../controls/button.tsx"
import styles from "./long-text.module.css"

const firstLength = 20_000
/** More at once than this would stop the page. */
const stepLength = 500_000

export function LongText({ text }: { text: string }) {
  const [shown, setShown] = useState(firstLength)
  const left = text.length - shown
  return (
    <>
      <div className={styles.text} dir="auto">
        {left > 0 ? wholeCharacters(text.slice(0, shown)) : text}
      </div>
      {left > 0 && (
        <p className={styles.rest}>
          … {formatBytes(left)} more{" "}
          <Button size="small" onClick={() => setShown(shown + stepLength)}>
            Show more
          </Button>
        </p>
      )}
    </>
  )
}

/** A cut between the two halves of a character leaves it out. */
function wholeCharacters(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, "")
}
