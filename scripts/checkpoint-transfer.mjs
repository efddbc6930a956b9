/**
 * Exports a checkpoint of a running server to a file, and imports an adapter as a checkpoint. A thin client of
 * `…/checkpoints/{step}/download` and `POST …/checkpoints` (docs/guide/checkpoints.md): it needs the server's address
 * and a key, no data folder.
 *
 * Usage: npm run export -- --what checkpoint --project TEAM/PROJECT --name MODEL --out FILE.gguf
 *        npm run import -- --what checkpoint --project TEAM/PROJECT --name MODEL --in FOLDER
 * --in       import: the folder that peft's save_pretrained wrote, or a tar file of it
 * --any-base import: the adapter's config names another base model, which is this one's under another name
 * --step     export: a number, or latest (the default); import: the number that it becomes (default: the next)
 * --format   peft, merged or gguf; by default gguf where the file ends so, else peft
 * --dtype    for merged and gguf: float32, bfloat16 or float16; by default the base model's
 *
 * Changes: FILE (export), which is written whole or not at all.
 */
import { spawn } from "node:child_process"
import { createReadStream, existsSync } from "node:fs"
import { stat } from "node:fs/promises"
import { extname, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { text } from "node:stream/consumers"
import { parseArgs } from "node:util"
import { oneOf, routeOf, saveAnswer, send, serverOptions } from "./server-requests.mjs"
import { SetupError } from "./setup/progress.mjs"

const formats = ["peft", "merged", "gguf"]
const dtypes = ["float32", "bfloat16", "float16"]

/** True when `args` have `--what checkpoint`. */
export function isCheckpoint(args) {
  const { values } = parseArgs({ args, options: { what: { type: "string" } }, strict: false })
  return values.what === "checkpoint"
}

export async function exportCheckpoint(args) {
  const string = { type: "string" }
  const own = { format: string, dtype: string, out: string, step: { type: "string", default: "latest" } }
  const values = readOptions(args, own, "out")
  const guessed = extname(values.out) === ".gguf" ? "gguf" : "peft"
  const format = oneOf("format", values.format ?? guessed, formats)
  const target = routeOf(values.url, `${await checkpointsOf(values)}/${encodeURIComponent(values.step)}/download`)
  target.searchParams.set("format", format)
  if (values.dtype !== undefined) target.searchParams.set("dtype", oneOf("dtype", values.dtype, dtypes))
  await saveAnswer(await send(target, values.key, { method: "GET" }), values.out)
}

export async function importCheckpoint(args) {
  const string = { type: "string" }
  const values = readOptions(args, { in: string, step: string, "any-base": { type: "boolean", default: false } }, "in")
  const found = await stat(values.in).catch((error) => {
    throw new SetupError(error.message)
  })
  const target = routeOf(values.url, await checkpointsOf(values))
  if (values.step !== undefined) target.searchParams.set("step", values.step)
  if (values["any-base"]) target.searchParams.set("any_base", "true")
  const write = (out) =>
    void pipeline(found.isDirectory() ? tarOf(values.in) : createReadStream(values.in), out).catch(() => {})
  const answer = await send(target, values.key, { headers: { "content-type": "application/x-tar" }, write })
  const { step, artifact } = JSON.parse(await text(answer))
  console.log(`step ${step} of ${values.name}: ${artifact}`)
}

/** A tar stream of the adapter's files in `folder`. Other files there, such as states of an optimizer, are left out. */
function tarOf(folder) {
  const names = ["adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"]
  const there = names.filter((name) => existsSync(join(folder, name)))
  if (there.length === 0)
    throw new SetupError(`--in is "${folder}": it has no adapter_config.json; name the folder of an adapter`)
  const tar = spawn("tar", ["-cf", "-", "-C", folder, ...there], { stdio: ["ignore", "pipe", "inherit"] })
  tar.on("error", (error) => tar.stdout.destroy(error))
  return tar.stdout
}

/** The path of the named model's checkpoints, which has the model's id. */
async function checkpointsOf({ url, key, project, name }) {
  const [entity, ...rest] = project.split("/")
  const target = routeOf(url, "/v1/preview/models")
  for (const [field, value] of Object.entries({ entity, project: rest.join("/"), name })) {
    target.searchParams.set(field, value)
  }
  const { data } = JSON.parse(await text(await send(target, key, { method: "GET" })))
  if (data.length === 0) throw new SetupError(`--name is "${name}": ${project} has no such model that this key may see`)
  return `/v1/preview/models/${data[0].id}/checkpoints`
}

function readOptions(args, own, file) {
  const string = { type: "string" }
  const { values } = parseArgs({
    args,
    options: { what: string, project: string, name: string, ...serverOptions(), ...own },
  })
  for (const name of ["project", "name", file, "key"]) {
    if (values[name] === undefined) throw new SetupError(`--${name} is missing`)
  }
  return values
}
