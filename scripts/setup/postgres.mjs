/**
 * Starts a PostgreSQL server for tests: Debian's package, a data folder in the temporary directory, a port of its own.
 * It touches nothing of a PostgreSQL that the machine may already run.
 */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { installPackage, mayInstallPackages } from "./debian.mjs"
import { cache } from "./paths.mjs"
import { SetupError } from "./progress.mjs"
import { ask, runLogged } from "./run.mjs"

const DEBIAN_FOLDER = "/usr/lib/postgresql"
const START_TIMEOUT_MS = 60_000

/** A locale that sorts by bytes and knows upper and lower case of letters outside ASCII. */
const locale = process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8"

/** The folder with `initdb` and `postgres`, newest version first; null when there is none. */
function findPostgres() {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(DEBIAN_FOLDER, version, "bin")), ask("pg_config", ["--bindir"])]
  return folders.find((folder) => folder && existsSync(join(folder, "initdb"))) ?? null
}

/** Finds PostgreSQL's programs; installs Debian's package when there are none and this process may. */
async function ensurePostgres() {
  const found = findPostgres()
  if (found) return found
  if (!mayInstallPackages()) {
    throw new SetupError(
      "the tests of the catalog need PostgreSQL's programs (initdb, postgres): " +
        "apt-get install postgresql, or put its pg_config on the PATH",
    )
  }
  await installPackage("postgresql")
  const installed = findPostgres()
  if (!installed) throw new SetupError(`postgresql was installed, but ${DEBIAN_FOLDER} has no initdb`)
  return installed
}

/** Starts an empty server; `url` is a superuser's connection address, `stop()` ends and deletes it. */
export async function startPostgres() {
  const programs = await ensurePostgres()
  const folder = mkdtempSync(join(tmpdir(), "heddle-postgres-"))
  const user = unprivilegedUser()
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
  const password = randomBytes(18).toString("hex")
  const data = await makeCluster(programs, folder, password, user)
  const port = await freePort()
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    // The data is thrown away after the tests: no need to wait for the disk.
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    // It visits every database again and again, and tests leave hundreds.
    autovacuum: "off",
    max_connections: "200",
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const server = spawn(join(programs, "postgres"), ["-D", data, "-p", String(port), ...args], {
    ...user,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  })
  const ended = new Promise((resolve) => server.on("exit", resolve))
  const stop = async () => {
    // SIGINT is PostgreSQL's fast shutdown: it does not wait for clients to leave.
    server.kill("SIGINT")
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await isReady(server)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`, stop }
}

async function makeCluster(programs, folder, password, user) {
  const data = join(folder, "data")
  const passwordFile = join(folder, "password")
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user.uid !== undefined) chownSync(passwordFile, user.uid, user.gid)
  const args = ["-D", data, "-U", "postgres", "-A", "scram-sha-256", `--pwfile=${passwordFile}`]
  await runLogged(join(programs, "initdb"), [...args, "-E", "UTF8", `--locale=${locale}`, "--no-sync"], {
    ...user,
    cwd: folder,
    log: join(cache, "logs", "initdb.log"),
  })
  return data
}

/** PostgreSQL refuses to run as root; any other user runs it as himself. */
function unprivilegedUser() {
  if (process.getuid?.() !== 0) return {}
  const name = ask("id", ["-u", "postgres"]) ? "postgres" : "nobody"
  return { uid: Number(ask("id", ["-u", name])), gid: Number(ask("id", ["-g", name])) }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** Resolves when the server says that it accepts connections. */
function isReady(server) {
  return new Promise((resolve, reject) => {
    let log = ""
    const fail = (why) => reject(new SetupError(`PostgreSQL did not start: ${why}\n${log.trim()}`))
    const timer = setTimeout(() => fail(`not ready after ${START_TIMEOUT_MS / 1000} s`), START_TIMEOUT_MS)
    server.on("error", (cause) => fail(cause.message))
    server.on("exit", (code) => fail(`it ended with ${code}`))
    server.stderr.setEncoding("utf8").on("data", (text) => {
      if (log.length < 20_000) log += text
      if (!log.includes("ready to accept connections")) return
      clearTimeout(timer)
      resolve()
    })
  })
}
