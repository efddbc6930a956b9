/** Entry of the thread that reads training data, so that a 300 MB body does not stop the server's own thread. */
import { rmSync } from "node:fs"
import { parentPort } from "node:worker_threads"
import { toEngineTrajectory } from "./engine-trajectory.ts"
import { exactHistories } from "./exact-histories.ts"
import { SplitError } from "../../json/json-splitter.ts"
import { TrajectoryBodyReader, type TrajectorySink } from "./trajectory-body.ts"
import { HashedLineFile } from "./trajectory-file.ts"
import type { FromReader, ToReader, TrajectoryFileFormat } from "./trajectory-messages.ts"

if (parentPort === null) throw new Error("this module runs only as a worker thread")
const port = parentPort

/** Messages between threads cost more than small pieces of work, so what was taken is told in sums. */
const reportBytes = 512 * 1024

interface OpenBody {
  unreported: number
  file: string
  lines: HashedLineFile
  reader: TrajectoryBodyReader
}

const open = new Map<number, OpenBody>()

function send(message: FromReader): void {
  port.postMessage(message)
}

port.on("message", (message: ToReader) => {
  try {
    take(message)
  } catch (error) {
    drop(message.id)
    send(failureOf(message.id, error as NodeJS.ErrnoException))
  }
})

function take(message: ToReader): void {
  switch (message.kind) {
    case "open":
      return begin(message.id, message.file, message.format)
    case "chunk":
      return takeChunk(message.id, message.bytes)
    case "end":
      return finish(message.id)
    case "abort":
      drop(message.id)
      return send({ kind: "dropped", id: message.id })
    case "ping":
      return send({ kind: "pong", id: message.id })
  }
}

function begin(id: number, file: string, format: TrajectoryFileFormat): void {
  const lines = new HashedLineFile(file)
  open.set(id, { unreported: 0, file, lines, reader: new TrajectoryBodyReader(sinks[format](lines)) })
}

const sinks: Record<TrajectoryFileFormat, (lines: HashedLineFile) => TrajectorySink> = {
  engine: (lines) => (one) =>
    lines.line(JSON.stringify(toEngineTrajectory({ ...one, trajectory: exactHistories(one.trajectory, one.bytes) }))),
  log:
    (lines) =>
    ({ group, index, bytes }) =>
      lines.line(`{"group":${group},"index":${index},"trajectory":${oneLine(bytes.toString("utf8"))}}`),
}

/** Line breaks in valid JSON stand only between tokens. */
function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]/g, " ")
}

function takeChunk(id: number, { buffer, byteOffset, length }: Uint8Array): void {
  const body = open.get(id)
  if (body === undefined) return
  body.reader.write(Buffer.from(buffer, byteOffset, length))
  body.unreported += length
  if (body.unreported < reportBytes) return
  send({ kind: "taken", id, bytes: body.unreported, held: body.reader.heldBytes })
  body.unreported = 0
}

function finish(id: number): void {
  const body = open.get(id)
  if (body === undefined) return
  const { metrics, ...read } = body.reader.end()
  const { issues } = read
  const written = issues.length === 0 ? body.lines.finish() : { sha256: "", sizeBytes: 0 }
  if (issues.length === 0) open.delete(id)
  else drop(id)
  const { groups, trajectories } = metrics
  send({ kind: "done", id, result: { ...read, metrics: metrics.summary(), groups, trajectories, ...written } })
}

function drop(id: number): void {
  const body = open.get(id)
  if (body === undefined) return
  open.delete(id)
  body.lines.close()
  rmSync(body.file, { force: true })
}

function failureOf(id: number, error: NodeJS.ErrnoException): FromReader {
  if (error instanceof SplitError) return { kind: "refused", id, reason: error.kind, message: error.message }
  return { kind: "failed", id, message: error.message, code: error.code ?? null }
}
