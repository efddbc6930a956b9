/** One embedded store on its way into a server. */
import type { Limits } from "../../limits.ts"

export interface MoveSettings {
  dataDir: string
  /** null: the catalog stays embedded. */
  postgresUrl: string | null
  /** null: the traces stay embedded. */
  clickhouseUrl: string | null
  limits: Limits
  /** Hears how far it is. */
  say: (line: string) => void
  /** Ends the move as a failure does, with its reason. */
  stopped: AbortSignal
}

/** A store that is open in both places. */
export interface Move {
  /** Names of tables that hold rows in the server; those that a move which was cut off left there are taken out first. */
  filled: () => Promise<string[]>
  /** Returns the number of rows. */
  copy: () => Promise<number>
  /** Takes out of the server what {@link copy} put there. */
  undo: () => Promise<void>
  /** Once every store is copied: from now on a server may start with it. */
  finish: () => Promise<void>
  close: () => Promise<void>
}

export interface EmbeddedStore {
  /** Name of its folder in the data folder. */
  folder: "catalog" | "traces"
  server: "PostgreSQL" | "ClickHouse"
  /** The setting that names the server. */
  setting: string
}

export const embeddedCatalog: EmbeddedStore = {
  folder: "catalog",
  server: "PostgreSQL",
  setting: "HEDDLE_POSTGRES_URL",
}
export const embeddedTraces: EmbeddedStore = {
  folder: "traces",
  server: "ClickHouse",
  setting: "HEDDLE_CLICKHOUSE_URL",
}

/** What a store that has moved leaves behind: its folder, under another name. */
export const leftFolder = ({ folder }: EmbeddedStore) => `${folder}-moved`
