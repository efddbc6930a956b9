/** A long list in parts: the first at once, each other one when somebody asks for it. */
import { type ReactNode, useState } from "react"
import { Button } from "../controls/button.tsx"
import styles from "./in-parts.module.css"

interface InPartsProps<Item> {
  items: readonly Item[]
  size: number
  /** Of the list: "Show 12 more of train". */
  title: string
  children: (part: readonly Item[], number: number) => ReactNode
}

export function InParts<Item>({ items, size, title, children }: InPartsProps<Item>) {
  const [parts, setParts] = useState(1)
  const more = Math.min(items.length - parts * size, size)
  return (
    <>
      {Array.from({ length: Math.min(parts, Math.ceil(items.length / size)) }, (_, part) =>
        children(items.slice(part * size, (part + 1) * size), part),
      )}
      {more > 0 && (
        <div className={styles.more}>
          <Button onClick={() => setParts(parts + 1)}>
            Show {more} more of {title}
          </Button>
        </div>
      )}
    </>
  )
}
