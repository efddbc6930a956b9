/** Numbers whose exact value shows on hover. */
import { formatAtLeast, formatExact } from "../../format/numbers.ts"
import { shortId } from "../../format/ids.ts"

/** `isWhole: false` says "at least": the counting was stopped. */
export function Count({ of, isWhole = true }: { of: number; isWhole?: boolean }) {
  return <span title={formatExact(of)}>{formatAtLeast(of, isWhole)}</span>
}

/** The beginning and the end of an id; the whole one on hover. */
export function ShortId({ of }: { of: string }) {
  return <code title={of}>{shortId(of)}</code>
}
