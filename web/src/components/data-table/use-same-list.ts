import { useState } from "react"

/** The list of the drawing before, as long as its elements are the same: what is handed it is not drawn again. */
export function useSameList<Element>(list: readonly Element[]): readonly Element[] {
  const [kept, setKept] = useState(list)
  if (kept.length === list.length && kept.every((element, index) => element === list[index])) return kept
  setKept(list)
  return list
}
