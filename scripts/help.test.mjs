import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { root } from "./setup/paths.mjs"

/** Folder of a copy of the repository in which nothing is installed. */
let clone
const files = ["scripts", "bench", "README.md", "package.json"]
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "heddle-help-"))
  for (const file of files) cpSync(join(root, file), join(clone, file), { recursive: true })
})
afterAll(() => rmSync(clone, { recursive: true, force: true }))

const { HEDDLE_PYTHON: _, ...environment } = process.env
const help = (...args) =>
  execFileSync("node", ["scripts/heddle.mjs", ...args], { cwd: clone, env: environment, encoding: "utf8" })

/** True for a file of `bench/` that `bench/bench.ts` imports: a benchmark. */
const isBenchmark = (file) => readFileSync(join(root, "bench", "bench.ts"), "utf8").includes(`import("./${file}")`)

test.each([
  ["start", ["--data-dir DIR", "HEDDLE_POSTGRES_URL", "HEDDLE_PORT"]],
  ["set-up", ["starts nothing", "HEDDLE_TORCH_INDEX"]],
  ["demo", ["--once", "HEDDLE_DATA_DIR"]],
  ["web", ["web/dist"]],
  ["dev", ["HEDDLE_URL"]],
  ["check", ["within a minute"]],
  ["test", ["clients", "HEDDLE_FUZZ_CASES"]],
  ["install-vllm", ["HEDDLE_SAMPLER=vllm"]],
  ["newest", ["SET"]],
  ["bench", ["calls-growth", "--save"]],
  ["export", ["--out FILE", "--dtype DTYPE", "HEDDLE_API_KEY"]],
  ["import", ["--moved-from TEAM/PROJECT", "--any-base"]],
])(
  "%s --help prints usage and options in a fresh clone, and installs nothing",
  { timeout: 60_000 },
  (command, words) => {
    const text = help(command, "--help")
    expect(text).toMatch(/^Usage: /)
    for (const word of words) expect(text).toContain(word)
    expect(readdirSync(clone).toSorted()).toEqual(["README.md", "bench", "package.json", "scripts"])
  },
)

/** The benchmark's options, which `bench/bench.ts` reads from the same export. */
const optionsOf = async (name) => (await import(join(root, "bench", `${name}.ts`))).options

test.each(readdirSync(join(root, "bench")).filter((file) => isBenchmark(file)))(
  "bench NAME --help, for %s, lists each option with its meaning and default, and installs nothing",
  { timeout: 60_000 },
  async (file) => {
    const name = file.replace(".ts", "")
    const text = help("bench", name, "--help")
    expect(text).toMatch(new RegExp(`^Usage: npm run bench -- ${name} `))
    for (const [option, { type, default: value }] of Object.entries(await optionsOf(name))) {
      const line = new RegExp(`^  --${option} .*\\w{3}.*$`, "m").exec(text)?.[0] ?? `no line for --${option}`
      if (type === "string") expect(line).toContain(`(default: ${value || "none"})`)
      else expect(line).toMatch(new RegExp(`^  --${option} {2,}\\w+`))
    }
    expect(text).toContain("--save")
    expect(readdirSync(clone).toSorted()).toEqual(["README.md", "bench", "package.json", "scripts"])
  },
)

test("--help without a command names every script of package.json", { timeout: 60_000 }, () => {
  const text = help("--help")
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  const named = Object.keys(scripts).map((name) =>
    ["start", "test"].includes(name) ? `npm ${name}` : `npm run ${name}`,
  )
  expect(named.filter((command) => !text.includes(command))).toEqual([])
})

test("start --help has every setting of the README, and its options reach it through npm", { timeout: 60_000 }, () => {
  const settings = new Set(
    readFileSync(join(root, "README.md"), "utf8")
      .match(/^\|.*`HEDDLE_[A-Z_]+(?=`)/gm)
      ?.map((row) => /HEDDLE_[A-Z_]+/.exec(row)[0]),
  )
  expect(settings.size).toBeGreaterThan(15)
  const text = execFileSync("npm", ["start", "--silent", "--", "--help"], {
    cwd: clone,
    env: environment,
    encoding: "utf8",
  })
  expect([...settings].filter((name) => !text.includes(name))).toEqual([])
})
