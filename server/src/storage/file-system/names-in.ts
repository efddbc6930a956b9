/** Names in a folder that may be missing. */
import { readdir } from "node:fs/promises"
import { noneIfGone } from "./none-if-gone.ts"

export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(noneIfGone)) ?? []
}
