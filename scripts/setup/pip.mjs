/** Runs the pip of a virtual environment. */
import { join, relative } from "node:path"
import { cache, root, venvBin } from "./paths.mjs"
import { runLogged } from "./run.mjs"

/** Runs pip; only lines of progress reach `detail`. */
export function pip(venv, args, { log, detail }) {
  return runLogged(
    venvBin(venv, "python"),
    ["-m", "pip", ...args, "--no-input", "--disable-pip-version-check", "--progress-bar", "off"],
    {
      log,
      detail: (line) => detail(progressOf(line)),
    },
  )
}

/** The progress in a line of pip's output, such as `Collecting numpy==2.4.6`; null when the line has none. */
function progressOf(line) {
  return line.match(/^\s*((Collecting|Downloading|Installing|Building) [^(]*)/)?.[1].trim() ?? null
}

/** The log file for one piece of work on an environment. */
export const logOf = (venv, what) =>
  join(cache, "logs", `${relative(root, venv).replace(/[^\w.-]+/g, "-")}-${what}.log`)
