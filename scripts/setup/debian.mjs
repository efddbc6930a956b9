/** Installs Debian packages that tests need, one at a time, as apt does; the server itself needs none. */
import { join } from "node:path"
import { withLock } from "./lock.mjs"
import { cache } from "./paths.mjs"
import { step } from "./progress.mjs"
import { ask, runLogged } from "./run.mjs"

/** True when this process may install Debian packages. */
export const mayInstallPackages = () => process.getuid?.() === 0 && Boolean(ask("apt-get", ["--version"]))

export function installPackage(name) {
  return withLock("apt", () =>
    step(`installing ${name} for the tests (apt-get install ${name})`, async (detail) => {
      const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
      const log = join(cache, "logs", `apt-${name}.log`)
      await runLogged("apt-get", ["update"], { log, detail, env })
      await runLogged("apt-get", ["install", "-y", "--no-install-recommends", name], { log, detail, env })
    }),
  )
}
