/** The catalog of a test: embedded, or a database of its own on the server of `HEDDLE_TEST_POSTGRES_URL`. */
import pg from "pg"

const ofTheRun = process.env["HEDDLE_TEST_POSTGRES_URL"]
const template = "HEDDLE_TEST_POSTGRES_TEMPLATE"
let databases = 0

/** Address of a new database with the tables of the catalog; null for the embedded catalog. */
export async function newPostgresUrl(): Promise<string | null> {
  return ofTheRun === undefined ? null : createDatabase(ofTheRun, process.env[template])
}

/** Makes the database that `newPostgresUrl` copies from now on, with `migrate`; making the tables anew takes longer. */
export async function makePostgresTemplate(migrate: (url: string) => Promise<void>): Promise<void> {
  if (ofTheRun === undefined) return
  const url = await createDatabase(ofTheRun)
  await migrate(url)
  process.env[template] = new URL(url).pathname.slice(1)
}

/** Makes a new database on this server, empty or as a copy; returns its address. */
export async function createDatabase(server: string, copied = "template1"): Promise<string> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  const name = `heddle_test_${process.pid}_${Date.now()}_${databases++}`
  await client.query(`create database ${name} template ${copied}`)
  await client.end()
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
