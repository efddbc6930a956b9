import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import { afterEach, expect, test, vi } from "vitest"
import { ensureCatalogTemplate } from "./catalog.mjs"
import { fromRoot } from "./paths.mjs"

afterEach(() => vi.unstubAllEnvs())

test("the catalog is made ahead, once, for the installed PGlite", async () => {
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

test("where it cannot be made the server is told of none", async () => {
  vi.doMock("./lock.mjs", () => ({
    withLock: () => mkdirSync("/proc/nothing-can-be-made-here"),
  }))
  vi.doMock("node:fs", async (original) => ({ ...(await original()), existsSync: () => false }))
  vi.resetModules()
  const { ensureCatalogTemplate: ensure } = await import("./catalog.mjs")
  expect(await ensure()).toEqual({})
})

test("a template of the operator's own, or a PostgreSQL server, stays the operator's choice", async () => {
  vi.stubEnv("HEDDLE_CATALOG_TEMPLATE", "/srv/catalog")
  expect(await ensureCatalogTemplate()).toEqual({})
  vi.unstubAllEnvs()
  vi.stubEnv("HEDDLE_POSTGRES_URL", "postgresql://db.example.org/heddle")
  expect(await ensureCatalogTemplate()).toEqual({})
})
