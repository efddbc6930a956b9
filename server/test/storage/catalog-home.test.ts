/** A catalog on a PostgreSQL server belongs to one data folder. */
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, test } from "vitest"
import { launchServer } from "../support/server-process.ts"
import { createDatabase } from "../support/postgres-database.ts"

const postgres = process.env["HEDDLE_TEST_POSTGRES_URL"]

test.runIf(postgres !== undefined)(
  "a second server on the same PostgreSQL is refused, from another data folder",
  async () => {
    const databaseUrl = await createDatabase(postgres!)
    const folders = await Promise.all([1, 2].map(() => mkdtemp(path.join(tmpdir(), "heddle-start-"))))
    const env = { HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal", HEDDLE_POSTGRES_URL: databaseUrl }
    const first = launchServer(folders[0]!, env)
    await first.url
    const refused = `the catalog in PostgreSQL (HEDDLE_POSTGRES_URL) belongs to another data folder than ${folders[1]}`
    await expect(launchServer(folders[1]!, env).url).rejects.toThrow(refused)
    first.child.kill("SIGTERM")
    await once(first.child, "exit")
    await expect(launchServer(folders[1]!, env).url).rejects.toThrow(refused)
    const again = launchServer(folders[0]!, env)
    await again.url
    again.child.kill("SIGTERM")
    await once(again.child, "exit")
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
  },
)
