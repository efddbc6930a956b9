/** Finds a browser for the tests of pages: the machine's own, else Debian's Chromium, which it installs. */
import { installPackage, mayInstallPackages } from "./debian.mjs"
import { SetupError } from "./progress.mjs"
import { ask } from "./run.mjs"

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

/** The path of the browser's program, or null when there is none and none can be installed. */
export async function ensureChromium() {
  const found = findChromium()
  if (found) return found
  if (!mayInstallPackages()) return null
  await installPackage("chromium")
  const installed = findChromium()
  if (!installed) throw new SetupError(`chromium was installed, but none of ${NAMES.join(", ")} is on the PATH`)
  return installed
}

function findChromium() {
  for (const name of NAMES) {
    const path = ask("sh", ["-c", `command -v ${name}`])
    if (path) return path
  }
  return null
}
