/** Names of runs for which the client has none. */
import { randomInt } from "node:crypto"

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

/** Eight letters and digits, as the client makes them. */
export function newRunName(): string {
  return Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join("")
}
