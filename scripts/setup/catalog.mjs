/**
 * The template: an empty embedded catalog with its tables, made once, which the first start on a new data folder copies.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import { withLock } from "./lock.mjs"
import { projectNode } from "./node-modules.mjs"
import { cache, fromRoot, root } from "./paths.mjs"
import { SetupError, say } from "./progress.mjs"
import { runLogged } from "./run.mjs"
import { digest } from "./stamp.mjs"

/**
 * Makes the template unless there is one; needs the npm packages. Returns the setting that names it to the
 * server; no setting when it cannot be made, since the server then makes its catalog itself.
 */
export async function ensureCatalogTemplate() {
  if (process.env.HEDDLE_CATALOG_TEMPLATE || process.env.HEDDLE_POSTGRES_URL) return {}
  const folder = join(cache, templateName())
  const setting = { HEDDLE_CATALOG_TEMPLATE: folder }
  try {
    if (!existsSync(folder)) await withLock("catalog-template", () => makeTemplate(folder))
    closeToOthers(folder)
    return setting
  } catch (error) {
    // The repository may be read-only, as in an image: that must not keep the server from starting.
    if (!(error instanceof SetupError || error.syscall)) throw error
    say(`no catalog could be made ahead, so first starts take longer: ${error.message}`)
    return {}
  }
}

async function makeTemplate(folder) {
  if (existsSync(folder)) return
  removeOthers()
  say(`making an empty catalog in ${relative(root, folder)} …`)
  await runLogged(projectNode, [fromRoot("scripts", "make-catalog-template.ts"), folder], {
    log: join(cache, "logs", "catalog-template.log"),
  })
}

/**
 * Whoever can write to the template can write to every catalog that is copied from it. Earlier set-ups left it open.
 */
function closeToOthers(folder) {
  try {
    chmodSync(folder, 0o700)
  } catch (error) {
    // Another user made the folder, such as the one who built an image, and closed it then.
    if (error.code !== "EPERM" && error.code !== "EROFS") throw error
  }
}

const prefix = "catalog-pglite-"

/**
 * PGlite's version and the migrations are part of the template's name: another PGlite must not open this one's catalog, and a
 * server whose migrations are fewer refuses one that has more.
 */
function templateName() {
  const manifest = fromRoot("node_modules", "@electric-sql", "pglite", "package.json")
  const { version } = JSON.parse(readFileSync(manifest, "utf8"))
  return `${prefix}${version}-${digest(...migrations()).slice(0, 12)}`
}

/** Names and texts of the catalog's migrations. */
function migrations() {
  const folder = fromRoot("server", "src", "storage", "catalog", "migrations")
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => [name, readFileSync(join(folder, name), "utf8")])
}

/** Of other versions. A server that copies one of them meanwhile makes its catalog itself. */
function removeOthers() {
  for (const name of readdirSync(cache)) {
    if (name.startsWith(prefix)) rmSync(join(cache, name), { recursive: true, force: true })
  }
}
