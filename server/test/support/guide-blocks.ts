/**
 * Reads and runs the code blocks of README and guides. A test runs each block in `sh`, `bash` or `python` after those
 * before it on its page; one that cannot run says why after its language: ```` ```bash not-run: needs vLLM ````.
 */
import { execFile } from "node:child_process"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { promisify } from "node:util"

const root = path.join(import.meta.dirname, "../../..")
export const shells = ["sh", "bash"]

export interface GuideBlock {
  page: string
  language: string
  /** The reason for which no test runs the block; null when one does. */
  notRun: string | null
  code: string
}

/** Paths of README and guides from the repository's root. */
export async function guidePages(): Promise<string[]> {
  const guides = (await readdir(path.join(root, "docs/guide"))).filter((name) => name.endsWith(".md"))
  return ["README.md", ...guides.toSorted().map((name) => `docs/guide/${name}`)]
}

/** Blocks of the page, in their order. */
export async function blocksOf(page: string): Promise<GuideBlock[]> {
  const text = await readFile(path.join(root, page), "utf8")
  return [...text.matchAll(/^```(\w+)([^\n]*)\n(.*?)^```$/gms)].map(([, language = "", info = "", code = ""]) => {
    if (info !== "" && !/^ not-run: \S/.test(info))
      throw new Error(`${page}: "${info}" is not of the form "not-run: why"`)
    return { page, language, notRun: info === "" ? null : info.replace(" not-run: ", ""), code }
  })
}

export const isShell = ({ language, notRun }: GuideBlock) => notRun === null && shells.includes(language)
export const isPython = ({ language, notRun }: GuideBlock) => notRun === null && language === "python"

/** Commands before the blocks: an answer of 400 or more ends the run, and each answer ends with a line feed. */
const prelude = `set -euo pipefail
curl() { command curl -sS --fail-with-body -w '\\n' "$@"; }
`

export interface ShellRun {
  url: string
  key: string
  /** Values that the reader fills in where the guide has `NAME=…`. */
  given?: Record<string, string>
  folder?: string
}

/** Runs the shell blocks of a page, in a folder of their own; returns the lines that they print. */
export async function runShellBlocks(page: string, { url, key, given = {}, folder }: ShellRun): Promise<string[]> {
  const code = (await blocksOf(page)).filter(isShell).map((block) => block.code)
  if (code.length === 0) throw new Error(`${page} has no shell block that runs`)
  const script = filledIn(code.join("\n"), { KEY: key, HEDDLE_API_KEY: key, ...given }).replaceAll(
    /(?:http:\/\/127\.0\.0\.1|localhost):8080/g,
    url,
  )
  const cwd = folder ?? (await mkdtemp(path.join(tmpdir(), "heddle-guide-")))
  try {
    const { stdout } = await promisify(execFile)("bash", ["-c", prelude + script], { cwd })
    return stdout.split("\n").filter((line) => line.trim() !== "")
  } finally {
    if (folder === undefined) await rm(cwd, { recursive: true, force: true })
  }
}

function filledIn(script: string, given: Record<string, string>): string {
  const filled = script.replaceAll(/\b([A-Z_]+)=…/g, (whole, name: string) =>
    given[name] === undefined ? whole : `${name}=${given[name]}`,
  )
  const left = /^[^#\n]*….*$/m.exec(filled)
  if (left !== null) throw new Error(`nothing is given for the "…" of: ${left[0]}`)
  return filled
}
