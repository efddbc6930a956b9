/**
 * The text that `--help` prints for every command: usage, options and environment. It installs nothing, and reads only
 * the README, whose table of settings is the one list of the variables that the server reads, and the benchmarks'
 * sources.
 */
import { readFileSync } from "node:fs"
import { benchmarkHelp, benchmarkNames } from "./bench-help.mjs"
import { fromRoot } from "./setup/paths.mjs"

const dataDir = ["--data-dir DIR", "where the server stores everything (default ./data)"]
const backupDir = ["--backup-dir DIR", "where backups of the running server lie (default backups in the data folder)"]
const port = ["--port PORT", "port to listen on; 0 takes a free one (default 8080)"]
const server = [
  ["HEDDLE_URL", "address of the server (default http://127.0.0.1:8080)"],
  ["HEDDLE_API_KEY", "key, where none is given; else WANDB_API_KEY"],
]
const transfer = (file) => [
  ["--project TEAM/PROJECT", "the project"],
  ["--what WHAT", "calls, feedback or dataset (default calls)"],
  file,
  ["--format FORMAT", "jsonl, csv or parquet (default: the ending of the file)"],
  ["--url URL", "address of the server"],
  ["--key KEY", "API key"],
]

const ofEveryBenchmark = [
  ["--json", "the result as the last line of standard output"],
  ["--save", "also write bench/results/NAME.json, from which docs/benchmarks.md is made"],
]

const commands = {
  start: {
    usage: "npm start -- [--host HOST] [--port PORT] [--data-dir DIR] [--backup-dir DIR]",
    about:
      "Starts the server. The first start installs what is missing: npm packages, a Python environment with torch.",
    options: [["--host HOST", "address to listen on (default 127.0.0.1)"], port, dataDir, backupDir],
    environment: settings,
  },
  "set-up": {
    usage: "npm run set-up",
    about:
      "Installs and builds what npm start needs, and starts nothing: for an image, or a machine that has no network later.",
    environment: () => settings().filter(([name]) => name === "HEDDLE_TORCH_INDEX"),
  },
  demo: {
    usage: "npm run demo -- [--once] [--json] [--port PORT] [--data-dir DIR]",
    about: "The whole loop on the shipped model: rollouts, training, a rising reward curve. Leaves the server up.",
    options: [
      ["--once", "stop after the loop"],
      ["--json", "the measurements as the last line of standard output"],
      ["--port PORT", "port to listen on, or the next one that is free; 0 takes any (default 8080)"],
      dataDir,
    ],
    environment: settings,
  },
  web: { usage: "node scripts/heddle.mjs web", about: "Builds the pages of the web interface into web/dist." },
  dev: {
    usage: "npm run dev -- [options of vite]",
    about: "Serves the pages from their sources, on a server that runs.",
    environment: () => server.slice(0, 1),
  },
  check: {
    usage: "npm run check",
    about: "Types, format, lint, dead code and the tests of modules: what can be told of a change within a minute.",
  },
  "install-vllm": {
    usage: "npm run install-vllm",
    about: "Installs vLLM's CPU build in .heddle/venvs/vllm, 3.5 GB, where HEDDLE_SAMPLER=vllm looks for it.",
  },
  test: {
    usage: "npm test -- [SUITE …] [PATH …] [-t TITLE]",
    about: "Runs all tests, or those of the suites and paths. The last line is N passed, N failed.",
    options: [
      ["PATH", "a file or folder of tests; with a suite, only those of its tests"],
      ["-t TITLE", "only tests whose titles have this in them (vitest's -t, pytest's -k)"],
      [
        "SUITE",
        "checks, scripts, web, server, browser, engine, clients, reference, fuzz, or one part of them by name; vllm, killed-loop and image run only by name",
      ],
    ],
    environment: () => [
      ["HEDDLE_FUZZ_CASES", "how many hostile requests and cases of schemathesis are tried"],
      ["HEDDLE_FUZZ_SEED", "the seed that a failure printed: draws the same ones again"],
      ["HEDDLE_ISOLATION_CASES", "how many values each text of a schema gets in the test of isolation"],
      ["HEDDLE_SLOW_TESTS", "any value: tests that take minutes run too"],
      ["HEDDLE_TEST_IMAGE", "the image that the suite image starts, with podman or what HEDDLE_CONTAINER_TOOL names"],
    ],
  },
  newest: {
    usage: "npm run compat:newest -- [SET …]",
    about:
      "Runs the client suites with the newest versions in the registries, installed for this run only; prints what changed and what fails.",
    options: [["SET", "a set of compat/python/sets.json that has newest, or node-clients (default: all of them)"]],
  },
  bench: {
    usage: "npm run bench -- NAME [--json] [--save] [options of the benchmark]",
    about: "Runs one benchmark and prints what it found; docs/benchmarks.md says what each measures.",
    options: () => [
      ["NAME", benchmarkNames().join(", ")],
      ...ofEveryBenchmark,
      ["NAME --help", "the options of that benchmark"],
    ],
  },
  "move-stores": {
    usage: "npm run move-stores -- [--data-dir DIR]",
    about:
      "Moves the embedded catalog and traces of a data folder into the servers that are named, while no server of Heddle runs on it (docs/guide/deploying.md).",
    options: [dataDir],
    environment: () => settings().filter(([name]) => /_(POSTGRES|CLICKHOUSE)_URL$/.test(name)),
  },
  export: {
    usage: "npm run export -- --project TEAM/PROJECT --out FILE [options]",
    about:
      "Writes calls, feedback, a dataset or a checkpoint of a running server into a file (docs/guide/export.md, checkpoints.md).",
    options: [
      ...transfer(["--out FILE", "the file; it is there whole or not at all"]),
      ["--what checkpoint", "with --name MODEL, and --format peft, merged or gguf"],
      ["--step STEP", "checkpoint: its number (default latest)"],
      ["--dtype DTYPE", "checkpoint: float32, bfloat16 or float16 (default: the base model's)"],
      ["--request JSON", `more fields of the request, such as '{"filter":{"trace_roots_only":true}}'`],
    ],
    environment: () => server,
  },
  import: {
    usage: "npm run import -- --project TEAM/PROJECT --in FILE [options]",
    about:
      "Stores the rows of a file on a running server (docs/guide/export.md), or a LoRA as a model's step (docs/guide/checkpoints.md).",
    options: [
      ...transfer(["--in FILE", "the file"]),
      ["--what checkpoint", "with --name MODEL, and --in the folder of an adapter or a tar file of it"],
      ["--step STEP", "checkpoint: the number that it becomes (default: the next)"],
      ["--any-base", "checkpoint: its config names the base model otherwise than the model does"],
      ["--name NAME", "name of the dataset"],
      ["--moved-from TEAM/PROJECT", "refs into that project become refs into this one"],
    ],
    environment: () => server,
  },
}

export const asksForHelp = (args) => args.some((arg) => arg === "--help" || arg === "-h")

/** `args` are the arguments after the command; a benchmark that they name has options of its own. */
export function helpOf(name, args = []) {
  const benchmark = name === "bench" ? args.find((arg) => benchmarkNames().includes(arg)) : undefined
  return benchmark === undefined ? helpOfCommand(commands[name]) : helpOfBenchmark(benchmark)
}

function helpOfBenchmark(name) {
  const { about, rows } = benchmarkHelp(name)
  return helpOfCommand({ usage: `npm run bench -- ${name} [options]`, about, options: [...rows, ...ofEveryBenchmark] })
}

function helpOfCommand({ usage, about, options = [], environment = () => [] }) {
  const sections = [
    ["Options", typeof options === "function" ? options() : options],
    ["Environment", environment()],
  ]
  const blocks = sections.filter(([, rows]) => rows.length > 0).map(([title, rows]) => `\n${title}:\n${table(rows)}`)
  return [`Usage: ${usage}\n\n${about}`, ...blocks].join("\n")
}

/** The list of all commands, for `--help` without a command. */
export function helpOfAll() {
  const rows = Object.values(commands).map(({ usage, about }) => [
    usage.split(" -- ")[0],
    about.split(/(?<=[.:])\s/)[0],
  ])
  return `Commands; each takes --help:\n${table(rows)}`
}

function table(rows) {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`).join("\n")
}

/** Name, meaning and default of each variable, from rows of the README's table: `HEDDLE_HOST` | default | meaning. */
function settings() {
  const readme = readFileSync(fromRoot("README.md"), "utf8")
  const rows = [...readme.matchAll(/^\|[^|\n]*`(HEDDLE_[^`]+)` \| ([^|\n]*) \| ([^|\n]*) \|$/gm)]
  return rows.map(([, name, value, meaning]) => [name, `${plain(meaning)} (default: ${plain(value)})`])
}

/** Markdown as plain text: a link becomes its title and target, and backquotes go. */
const plain = (text) =>
  text
    .replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, (_, title, target) => (title === target ? title : `${title} (${target})`))
    .replaceAll("`", "")
