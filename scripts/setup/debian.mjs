/** Installs Debian packages that tests need; the server itself needs none. */
import { join } from "node:path"
import { cache } from "./paths.mjs"
import { step } from "./progress.mjs"
import { ask, runLogged } from "./run.mjs"

/** True when this process may install Debian packages. */
export const mayInstallPackages = () => process.getuid?.() === 0 && Boolean(ask("apt-get", ["--version"]))

export async function installPackage(name) {
  await step(`installing ${name} for the tests (apt-get install ${name})`, async (detail) => {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
    const log = join(cache, "logs", `apt-${name}.log`)
    await runLogged("apt-get", ["update"], { log, detail, env })
    await runLogged("apt-get", ["install", "-y", "--no-install-recommends", name], { log, detail, env })
  })
}
