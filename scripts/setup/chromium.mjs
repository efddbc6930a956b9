/** Finds browsers: the machine's own, else Debian's, which it installs where it may. */
import { installPackage, mayInstallPackages } from "./debian.mjs"
import { SetupError } from "./progress.mjs"
import { ask } from "./run.mjs"

/** Whole browsers. Without a screen they compose every frame all the same. */
const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

/** Chromium without windows: the same engine of pages, for 60 % of the processor time. */
const SHELLS = ["chromium-headless-shell", "chrome-headless-shell"]

/** The path of a whole browser's program, or null when there is none and none can be installed. */
export async function ensureChromium() {
  const found = find(BROWSERS)
  if (found || !mayInstallPackages()) return found
  await installPackage("chromium")
  const installed = find(BROWSERS)
  if (!installed) throw new SetupError(`chromium was installed, but none of ${BROWSERS.join(", ")} is on the PATH`)
  return installed
}

/** The path of the program that tests of pages run in: Chromium without windows, else a whole browser, else null. */
export async function ensureTestBrowser() {
  if (!find(SHELLS) && mayInstallPackages()) await installPackage("chromium-headless-shell").catch(otherSystem)
  return find(SHELLS) ?? ensureChromium()
}

/** Ubuntu, and Debian before its Chromium 133, have no such package. */
function otherSystem(error) {
  if (!(error instanceof SetupError)) throw error
}

function find(names) {
  for (const name of names) {
    const path = ask("sh", ["-c", `command -v ${name}`])
    if (path) return path
  }
  return null
}
