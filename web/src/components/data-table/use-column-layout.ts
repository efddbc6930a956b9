import { useState } from "react"
import { putText } from "../../kept/put-text.ts"
import { type ColumnLayout, plainLayout } from "./columns.ts"

/** A layout that this browser remembers under a name; null: it remembers nothing. */
export function useColumnLayout(name: string | null): [ColumnLayout, (layout: ColumnLayout) => void] {
  const key = `heddle.columns.${name}`
  const [layout, setLayout] = useState<ColumnLayout>(() => (name === null ? plainLayout : stored(key)))
  const store = (next: ColumnLayout) => {
    setLayout(next)
    if (name !== null) putText(localStorage, key, JSON.stringify(next))
  }
  return [layout, store]
}

/** An older version, or somebody by hand, may have stored anything. */
function stored(key: string): ColumnLayout {
  try {
    const { order, visible, widths } = JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<ColumnLayout>
    return { order: order ?? [], visible: visible ?? {}, widths: widths ?? {} }
  } catch {
    return plainLayout
  }
}
