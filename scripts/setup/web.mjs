/** Builds the pages of the web interface, web/dist, once for each state of their sources. */
import { readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import { withLock } from "./lock.mjs"
import { projectNode } from "./node-modules.mjs"
import { cache, fromRoot, root } from "./paths.mjs"
import { SetupError, say, step } from "./progress.mjs"
import { runLogged } from "./run.mjs"
import { digest, readStamp, writeStamp } from "./stamp.mjs"

const web = fromRoot("web")
const built = join(web, "dist")
/** Sources of the pages in `web/`; the packages of the lock file are the others. */
const sources = ["build", "public", "src", "index.html", "package.json", "vite.config.ts"]
/** Sources of the server from which the build reads which addresses are pages. */
const serverSources = ["server/src/http/pages/page-paths.ts", "server/src/wire/platform/reserved-names.ts"]

/** Builds the pages unless they are there already; needs the npm packages. `until`: ends a build that is under way. */
export async function ensureWeb(until) {
  const stamp = join(built, ".heddle-stamp")
  const wanted = sourceDigest()
  if (readStamp(stamp) === wanted) return
  await withLock("web", async () => {
    if (readStamp(stamp) === wanted) return
    await step("building the pages (vite build)", () => build(wanted, until))
  })
}

/** Builds the pages for a command that can do without them: a failure is printed, and the command goes on. */
export async function tryBuildWeb(until) {
  try {
    await ensureWeb(until)
  } catch (error) {
    if (until?.aborted) return
    // The repository may be read-only, as in an image, or installed without the packages that a build needs.
    if (!(error instanceof SetupError || error.syscall)) throw error
    say(`the pages could not be built; the API answers all the same: ${error.message}`)
  }
}

/** Builds into a new folder and replaces the old one when it is whole: a server may serve the old one meanwhile. */
async function build(stamp, until) {
  const fresh = `${built}.new`
  rmSync(fresh, { recursive: true, force: true })
  await runLogged(projectNode, [fromRoot("node_modules/vite/bin/vite.js"), "build", "--outDir", fresh, web], {
    log: join(cache, "logs", "web-build.log"),
    until,
  })
  writeStamp(join(fresh, ".heddle-stamp"), stamp)
  rmSync(built, { recursive: true, force: true })
  renameSync(fresh, built)
}

function sourceDigest() {
  const files = [
    ...sources.flatMap((name) => filesIn(join(web, name))),
    ...serverSources.map((name) => fromRoot(name)),
    fromRoot("package-lock.json"),
  ]
  return digest(...files.flatMap((path) => [relative(root, path), readFileSync(path, "utf8")]))
}

function filesIn(path) {
  const entries = (() => {
    try {
      return readdirSync(path, { withFileTypes: true, recursive: true })
    } catch (error) {
      if (error.code === "ENOTDIR") return null
      throw error
    }
  })()
  if (entries === null) return [path]
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}
