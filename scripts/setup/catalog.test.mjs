import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { afterEach, expect, test, vi } from "vitest"
import { ensureCatalogTemplate } from "./catalog.mjs"
import { fromRoot } from "./paths.mjs"

afterEach(() => vi.unstubAllEnvs())

test("the set-up makes the template once, for the installed version of PGlite, with the catalog's tables", async () => {
  const { HEDDLE_CATALOG_TEMPLATE: folder } = await ensureCatalogTemplate()
  const { packages } = JSON.parse(readFileSync(fromRoot("package-lock.json"), "utf8"))
  const { version } = packages["node_modules/@electric-sql/pglite"]
  expect(basename(folder)).toMatch(new RegExp(`^catalog-pglite-${RegExp.escape(version)}-[0-9a-f]{12}$`))
  expect(readFileSync(join(folder, "PG_VERSION"), "utf8").trim()).toBe("18")
  expect(existsSync(`${folder}.new`)).toBe(false)
  expect(await ensureCatalogTemplate()).toEqual({ HEDDLE_CATALOG_TEMPLATE: folder })
  expect(await migrationsIn(folder)).toEqual(migrationNames())
})

test("other users of the machine can neither read nor change the template, also one that an earlier set-up left open", async () => {
  const { HEDDLE_CATALOG_TEMPLATE: folder } = await ensureCatalogTemplate()
  chmodSync(folder, 0o755)
  await ensureCatalogTemplate()
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

test("a template that cannot be made is not named to the server", async () => {
  vi.doMock("./lock.mjs", () => ({
    withLock: () => mkdirSync("/proc/nothing-can-be-made-here"),
  }))
  vi.doMock("node:fs", async (original) => ({ ...(await original()), existsSync: () => false }))
  vi.resetModules()
  const { ensureCatalogTemplate: ensure } = await import("./catalog.mjs")
  expect(await ensure()).toEqual({})
})

test("an operator's own template, or PostgreSQL server, keeps the set-up from naming its template", async () => {
  vi.stubEnv("HEDDLE_CATALOG_TEMPLATE", "/srv/catalog")
  expect(await ensureCatalogTemplate()).toEqual({})
  vi.unstubAllEnvs()
  vi.stubEnv("HEDDLE_POSTGRES_URL", "postgresql://db.example.org/heddle")
  expect(await ensureCatalogTemplate()).toEqual({})
})

/** As the server's package has it. */
const { PGlite } = createRequire(fromRoot("server", "package.json"))("@electric-sql/pglite")

const migrations = fromRoot("server", "src", "storage", "catalog", "migrations")

const migrationNames = () =>
  readdirSync(migrations)
    .toSorted()
    .map((name) => name.replace(".ts", ""))

/** Reads a copy, since PGlite writes to what it opens. */
async function migrationsIn(template) {
  const folder = mkdtempSync(join(tmpdir(), "heddle-template-"))
  try {
    cpSync(template, folder, { recursive: true })
    const pglite = await PGlite.create({ dataDir: folder })
    const { rows } = await pglite.query("select name from kysely_migration order by name")
    await pglite.close()
    return rows.map(({ name }) => name)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test("a migration that is changed or added makes another template", async () => {
  const first = await ensureCatalogTemplate()
  vi.doMock("node:fs", async (original) => {
    const real = await original()
    const readFile = (path, ...how) => (path.startsWith?.(migrations) ? "changed" : real.readFileSync(path, ...how))
    return { ...real, existsSync: () => true, readFileSync: readFile, chmodSync: () => undefined }
  })
  vi.resetModules()
  const { ensureCatalogTemplate: ensure } = await import("./catalog.mjs")
  expect(await ensure()).not.toEqual(first)
})
