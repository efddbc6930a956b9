/** The version of this server, from its package file. */
import { readFile } from "node:fs/promises"

export async function serverVersion(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8")
  return (JSON.parse(text) as { version: string }).version
}
