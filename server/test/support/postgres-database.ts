/** The catalog of a test: embedded, or a database of its own on the server of `HEDDLE_TEST_POSTGRES_URL`. */
import pg from "pg"

let databases = 0

/** Address of a new database; null for the embedded catalog. */
export async function newPostgresUrl(): Promise<string | null> {
  const server = process.env["HEDDLE_TEST_POSTGRES_URL"]
  return server === undefined ? null : createDatabase(server)
}

/** Makes a new database on this server; returns its address. */
export async function createDatabase(server: string): Promise<string> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  const name = `heddle_test_${process.pid}_${Date.now()}_${databases++}`
  await client.query(`create database ${name}`)
  await client.end()
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
