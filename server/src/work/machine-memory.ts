/** How much memory there is. */
import { totalmem } from "node:os"
import { constrainedMemory } from "node:process"

/** Bytes of the machine, or of its container where that has fewer. */
export function machineMemory(): number {
  // 0 or beyond what there is: nobody has set a limit.
  return Math.min(constrainedMemory() || Infinity, totalmem())
}
