/** The row that keys walk from. The address keeps the call in it, so that a link or a reload begins there. */
import { useEffect, useEffectEvent, useState } from "react"
import { useIsLeaving } from "../../../url/use-is-leaving.ts"

/** Walking through rows has come to rest. */
const restMs = 400
/** Rows below its old place among which a row is looked for that new ones have moved down. */
const farthestMove = 500

interface InHand {
  index: number
  /** Of its call; "": its page was not there. */
  id: string
}

interface RowInHandOptions {
  /** Id of the call in the row; undefined: its page is not there now. */
  idAt: (index: number) => string | undefined
  /** As the address has it. */
  inAddress: string | undefined
  onRest: (id: string) => void
}

/** `current`: null for none, or where it has moved too far. */
export function useRowInHand({ idAt, inAddress, onRest }: RowInHandOptions) {
  const [inHand, setInHand] = useState<InHand | null>(inAddress ? { index: 0, id: inAddress } : null)
  const isLeaving = useIsLeaving()
  const id = inHand?.id === "" ? undefined : inHand?.id
  const tell = useEffectEvent((resting: string | undefined) => {
    if (!isLeaving() && resting !== undefined && resting !== inAddress) onRest(resting)
  })
  // The clock: a browser takes few new addresses a second, and a key that is held walks faster.
  useEffect(() => {
    const timer = setTimeout(() => tell(id), restMs)
    return () => clearTimeout(timer)
  }, [id])
  return {
    // New rows above it may have moved it down.
    current: inHand === null ? null : placeOf(inHand, idAt),
    setCurrent: (index: number) => setInHand({ index, id: idAt(index) ?? "" }),
  }
}

function placeOf({ index, id }: InHand, idAt: (index: number) => string | undefined): number | null {
  if (id === "" || idAt(index) === undefined) return index
  for (let place = index; place < index + farthestMove; place += 1) if (idAt(place) === id) return place
  return null
}
