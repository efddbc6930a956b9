/** The command that moves the embedded stores of a data folder into the servers that the settings name. */
import { parseArgs } from "node:util"
import { readConfig } from "./config.ts"
import { moveStores } from "./storage/move/move-stores.ts"

process.umask(0o077)

try {
  const { values } = parseArgs({ options: { "data-dir": { type: "string" } } })
  const folder = values["data-dir"]
  const config = readConfig(folder === undefined ? [] : ["--data-dir", folder], process.env)
  const stopped = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    // The first one ends the move in order; another one of its kind ends the process at once.
    process.once(signal, () => stopped.abort(new Error(`${signal} stopped the move`)))
  }
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  await moveStores({ ...config, say, stopped: stopped.signal })
  process.exit(0)
} catch (error) {
  process.stderr.write(`The stores did not move: ${(error as Error).message}\n`)
  process.exit(1)
}
