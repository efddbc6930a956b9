/** Gives the places of calls the codec and the merges of new stores. What is stored takes them when it is merged next. */
import { callPlacesTable, placeCodec, placeMerges } from "../calls/calls-tables.ts"
import type { TraceMigration } from "./migrate-traces.ts"

export const quickerPlaces: TraceMigration = {
  version: 5,
  name: "places of calls that are found quicker",
  async isNeeded(traces) {
    const found = await traces.rows(
      `select 1 from system.tables where database = currentDatabase() and name = '${callPlacesTable}'
        and not (engine_full like '%${placeMerges}%')`,
    )
    return found.length > 0
  },
  async run(traces) {
    await traces.command(
      `alter table ${callPlacesTable} modify column key String ${placeCodec}, modify column id String ${placeCodec}`,
    )
    // Last: by it a store is known that has run this.
    await traces.command(`alter table ${callPlacesTable} modify setting ${placeMerges}`)
  },
}
