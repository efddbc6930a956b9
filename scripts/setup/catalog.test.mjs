import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import { afterEach, expect, test, vi } from "vitest"
import { ensureCatalogTemplate } from "./catalog.mjs"
import { fromRoot } from "./paths.mjs"

afterEach(() => vi.unstubAllEnvs())

test("the set-up makes the template once, for the installed version of PGlite", async () => {
  const { HEDDLE_CATALOG_TEMPLATE: folder } = await ensureCatalogTemplate()
  const { packages } = JSON.parse(readFileSync(fromRoot("package-lock.json"), "utf8"))
  expect(basename(folder)).toBe(`catalog-pglite-${packages["node_modules/@electric-sql/pglite"].version}`)
  expect(readFileSync(join(folder, "PG_VERSION"), "utf8").trim()).toBe("18")
  expect(existsSync(`${folder}.new`)).toBe(false)
  expect(await ensureCatalogTemplate()).toEqual({ HEDDLE_CATALOG_TEMPLATE: folder })
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
