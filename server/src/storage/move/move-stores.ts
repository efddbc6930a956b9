/**
 * Moves the embedded stores of a data folder, of which no server runs, into servers of their own: the catalog into PostgreSQL,
 * the traces into ClickHouse. Nothing changes in the folder before everything is copied; then the stores' folders get another
 * name. Files, checkpoints and the secret stay where they are.
 */
import { existsSync } from "node:fs"
import { rename } from "node:fs/promises"
import path from "node:path"
import { lockDataFolder } from "../data-lock.ts"
import { embeddedCatalog, embeddedTraces, leftFolder, type Move, type MoveSettings } from "./move.ts"
import { openCatalogMove } from "./move-catalog.ts"
import { openTracesMove } from "./move-traces.ts"

/** The catalog last: its copy is the one that a failure takes back by itself. */
const steps = [
  { store: embeddedTraces, urlOf: ({ clickhouseUrl }: MoveSettings) => clickhouseUrl, open: openTracesMove },
  { store: embeddedCatalog, urlOf: ({ postgresUrl }: MoveSettings) => postgresUrl, open: openCatalogMove },
]

type Step = (typeof steps)[number]

/**
 * @throws {Error} with a sentence for the operator. The stores in the folder then are as they were, and the servers are empty,
 * unless a folder could not be renamed in the end.
 */
export async function moveStores(settings: MoveSettings): Promise<void> {
  const { dataDir, say } = settings
  const chosen = chosenSteps(settings)
  const lock = await lockDataFolder(dataDir)
  try {
    await copyAll(chosen, settings)
    for (const { store } of chosen) {
      await rename(path.join(dataDir, store.folder), path.join(dataDir, leftFolder(store)))
      say(`The ${store.folder} moved into ${store.server}: from now on start the server with ${store.setting}.`)
    }
  } finally {
    await lock.release()
  }
}

function chosenSteps(settings: MoveSettings): Step[] {
  const { dataDir } = settings
  const named = steps.filter((step) => step.urlOf(settings) !== null)
  if (named.length === 0) {
    throw new Error("no server is named: set HEDDLE_POSTGRES_URL for the catalog, HEDDLE_CLICKHOUSE_URL for the traces")
  }
  const chosen: Step[] = []
  for (const step of named) {
    if (!existsSync(path.join(dataDir, step.store.folder))) continue
    if (existsSync(path.join(dataDir, leftFolder(step.store)))) {
      throw new Error(`${path.join(dataDir, leftFolder(step.store))} is there from an earlier move: take it away first`)
    }
    chosen.push(step)
  }
  if (chosen.length > 0) return chosen
  const folders = named.map(({ store }) => store.folder).join(" and no ")
  throw new Error(`there is nothing to move: the data folder ${dataDir} has no ${folders}`)
}

async function copyAll(chosen: readonly Step[], settings: MoveSettings): Promise<void> {
  const { say } = settings
  const moves: (Step & { move: Move })[] = []
  try {
    for (const step of chosen) moves.push({ ...step, move: await step.open(settings) })
    for (const { store, move } of moves) {
      const filled = await move.filled()
      if (filled.length === 0) continue
      throw new Error(
        `the ${store.server} database that ${store.setting} names has rows already, in ${filled.join(", ")}: ` +
          "name one that is empty. If an earlier move ended here, start the server with it",
      )
    }
    const begun: Move[] = []
    try {
      for (const { store, move } of moves) {
        begun.push(move)
        say(`The ${store.folder}: ${await move.copy()} rows are copied.`)
      }
      for (const { move } of moves) await move.finish()
    } catch (cause) {
      const undone = await Promise.allSettled(begun.map((move) => move.undo()))
      if (undone.every(({ status }) => status === "fulfilled")) throw cause
      const why = `${(cause as Error).message}. What was copied could not be taken back: name another empty database`
      throw new Error(why, { cause })
    }
  } finally {
    for (const { move } of moves) await move.close()
  }
}
