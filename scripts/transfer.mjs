/**
 * Exports calls, feedback or a dataset of a running server to a file, and imports them from one. A thin client of
 * `/export/…` and `/import/…` (docs/guide/export.md): it needs the server's address and a key, no data folder.
 *
 * Usage: npm run export -- --project TEAM/PROJECT --what calls --out FILE.parquet
 *        npm run import -- --project TEAM/PROJECT --what calls --in FILE.parquet
 * --what     calls, feedback or dataset; checkpoint: scripts/checkpoint-transfer.mjs
 * --format   jsonl, csv or parquet; by default the ending of the file
 * --url      default HEDDLE_URL, else http://127.0.0.1:8080
 * --key      default HEDDLE_API_KEY, else WANDB_API_KEY
 * --request  export: more fields of the request as JSON, such as '{"filter":{"trace_roots_only":true}}'
 * --name     import of a dataset: its name
 * --moved-from TEAM/PROJECT   import: refs into that project become refs into this one
 *
 * Changes: FILE (export), which is written whole or not at all.
 */
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { extname } from "node:path"
import { pipeline } from "node:stream/promises"
import { text } from "node:stream/consumers"
import { parseArgs } from "node:util"
import { oneOf, routeOf, saveAnswer, send, serverOptions } from "./server-requests.mjs"
import { SetupError } from "./setup/progress.mjs"

const nouns = ["calls", "feedback", "dataset"]
const formats = ["jsonl", "csv", "parquet"]

export async function exportFile(args) {
  const { project, what, format, file, url, key, more } = readOptions(args, "out")
  const body = JSON.stringify({ ...readJson(more), project_id: project, format })
  const headers = { "content-type": "application/json" }
  const answer = await send(routeOf(url, `/export/${what}`), key, { headers, write: (out) => out.end(body) })
  await saveAnswer(answer, file)
}

export async function importFile(args) {
  const { project, what, format, file, url, key, name, movedFrom } = readOptions(args, "in")
  const { size } = await stat(file).catch((error) => {
    throw new SetupError(error.message)
  })
  const target = routeOf(url, `/import/${what}`)
  const fields = { project_id: project, format, name, moved_from: movedFrom }
  for (const [field, value] of Object.entries(fields)) if (value !== undefined) target.searchParams.set(field, value)
  const headers = { "content-type": "application/octet-stream", "content-length": size }
  // A server that refuses the file may answer before it has read all of it; the rest then cannot be sent.
  const write = (out) => void pipeline(createReadStream(file), out).catch(() => {})
  const whenBroken = ". Run it again: what was stored already is not stored twice"
  const answer = await send(target, key, { headers, write, whenBroken })
  const report = JSON.parse(await text(answer))
  console.log(`${report.imported} rows imported, ${report.failed} left out`)
  for (const { row, column, value, message } of report.errors) {
    console.log(`row ${row}${column === null ? "" : `, ${column}`}: ${message}${value === null ? "" : ` (${value})`}`)
  }
  if (report.failed > 0) process.exitCode = 1
}

/**
 * @returns {{ project: string, what: string, format: string, file: string, url: string, key: string, more?: string,
 * name?: string, movedFrom?: string }}
 */
function readOptions(args, fileOption) {
  const string = { type: "string" }
  const { values } = parseArgs({
    args,
    options: {
      project: string,
      what: { type: "string", default: "calls" },
      format: string,
      [fileOption]: string,
      ...serverOptions(),
      ...(fileOption === "out" ? { request: string } : { name: string, "moved-from": string }),
    },
  })
  const file = values[fileOption]
  for (const [name, value] of Object.entries({ project: values.project, [fileOption]: file, key: values.key })) {
    if (value === undefined) throw new SetupError(`--${name} is missing`)
  }
  return {
    project: values.project,
    what: oneOf("what", values.what, nouns),
    format: oneOf("format", values.format ?? extname(file).slice(1), formats),
    file,
    url: values.url,
    key: values.key,
    more: values.request,
    name: values.name,
    movedFrom: values["moved-from"],
  }
}

function readJson(given) {
  try {
    return given === undefined ? {} : JSON.parse(given)
  } catch (error) {
    throw new SetupError(`--request is not JSON: ${error.message}`)
  }
}
