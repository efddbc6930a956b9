/**
 * uv installs the packages of client sets and those of the engine's tests, since pip takes three to twenty times the
 * processor time: the sets share most of their packages, and uv unpacks each once and links it into every environment.
 * torch alone, whose build is chosen, comes by pip. uv is installed by pip, held to the hashes of uv.txt, and asks the
 * index that pip is set up for.
 */
import { join } from "node:path"
import { cache, fromRoot, venvBin } from "./paths.mjs"
import { SetupError } from "./progress.mjs"
import { ask, runLogged } from "./run.mjs"

/** What installs uv itself. */
export const uvLock = fromRoot("scripts", "setup", "uv.txt")

/** Installs the exact pins of `lock` in `venv` with the uv of the environment `tool`, checking their hashes. */
export async function uvInstall(tool, venv, lock, { log, detail }) {
  // Any version of a pin comes from any index, as with pip; the hashes say which files are right.
  const how = ["--no-config", "--no-deps", "--require-hashes", "--index-strategy", "unsafe-best-match"]
  const args = ["pip", "install", ...how, "--python", venvBin(venv, "python"), "-r", lock]
  await runLogged(venvBin(tool, "uv"), args, {
    log,
    detail: (line) => detail(line.trim() || null),
    env: {
      ...uvSettings(pipSettings(tool)),
      ...process.env,
      UV_CACHE_DIR: join(cache, "uv"),
      UV_PYTHON_DOWNLOADS: "never",
    },
  })
}

/** pip's settings, from its files and its environment, as `pip config list` prints them. */
function pipSettings(tool) {
  const printed = ask(venvBin(tool, "python"), ["-m", "pip", "config", "list"])
  if (printed === null) throw new SetupError("pip config list failed: the settings of pip cannot be read")
  return printed
}

/** Sections of pip's settings, the strongest first. */
const sections = [":env:", "install", "global"]

/** Environment of uv that says what the printed settings of pip say. */
export function uvSettings(printed) {
  const lines = printed.split("\n").map((line) => /^(\S+)\.([\w-]+)='(.*)'$/.exec(line))
  const settings = lines.filter(Boolean).map(([, section, name, value]) => ({ section, name, value }))
  const of = (name) =>
    sections.map((section) => settings.find((one) => one.section === section && one.name === name)?.value).find(Boolean)
  // pip separates several values by spaces or, in its files, by lines.
  const list = (name) =>
    of(name)
      ?.split(/(?:\s|\\n)+/)
      .filter(Boolean)
  const wanted = {
    UV_DEFAULT_INDEX: of("index-url"),
    UV_INDEX: list("extra-index-url")?.join(" "),
    UV_FIND_LINKS: list("find-links")?.join(","),
    UV_INSECURE_HOST: list("trusted-host")?.join(" "),
    UV_NO_INDEX: /^(1|true|yes|on)$/i.test(of("no-index") ?? "") ? "1" : undefined,
    SSL_CERT_FILE: of("cert"),
    HTTPS_PROXY: of("proxy"),
    UV_HTTP_TIMEOUT: of("timeout") ?? of("default-timeout"),
  }
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined))
}
