/** A text of which the beginning is shown, and all of it on demand. */
import { type ReactNode, useState } from "react"
import { Button } from "../controls/button.tsx"
import styles from "./clamped.module.css"

const longLength = 1_500
const longLines = 20

interface ClampedProps {
  /** As long as what is shown of it. */
  text: string
  /** The text, drawn. */
  children: ReactNode
}

export function Clamped({ text, children }: ClampedProps) {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > longLength || text.split("\n", longLines + 1).length > longLines
  if (!isLong) return children
  return (
    <>
      <div className={isWhole ? undefined : styles.clamped}>{children}</div>
      <Button size="small" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
        {isWhole ? "Show less" : "Show all"}
      </Button>
    </>
  )
}
