/** Debian's packages that tests need; nothing that the server itself needs comes this way. */
import { join } from "node:path"
import { cache } from "./paths.mjs"
import { step } from "./progress.mjs"
import { ask, runLogged } from "./run.mjs"

/** Whether this process may install Debian packages here. */
export const mayInstallPackages = () => process.getuid?.() === 0 && Boolean(ask("apt-get", ["--version"]))

export async function installPackage(name) {
  await step(`installing ${name} for the tests (apt-get install ${name})`, async (detail) => {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
    const log = join(cache, "logs", `apt-${name}.log`)
    await runLogged("apt-get", ["update"], { log, detail, env })
    await runLogged("apt-get", ["install", "-y", "--no-install-recommends", name], { log, detail, env })
  })
}
