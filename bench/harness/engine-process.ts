/** Runs an engine process without a server, called over its socket (`server/src/wire/engine/frames.ts`). */
import net from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { startProgram } from "./child-process.ts"
import { enginePython } from "./environments.ts"
import { fromRoot, logFile } from "./paths.ts"

const CONNECT_PAUSE_MS = 5
const CONNECT_TIMEOUT_MS = 60_000

/** Starts an engine listening on `socket`, makes one call and returns its result; the engine ends afterwards. */
export async function callFreshEngine(socket: string, method: string, params: unknown): Promise<unknown> {
  const python = await enginePython()
  await using program = startProgram(python, ["-m", "heddle_engine", "--listen", `unix:${socket}`], logFile("engine"), {
    cwd: fromRoot("engine"),
  })
  const connection = await connect(socket, () => program.assertAlive())
  try {
    connection.write(frame({ id: 1, method, params }))
    return await resultOf(connection)
  } finally {
    connection.destroy()
  }
}

async function connect(socket: string, assertAlive: () => void): Promise<net.Socket> {
  const deadline = performance.now() + CONNECT_TIMEOUT_MS
  while (performance.now() < deadline) {
    assertAlive()
    const connection = await tryConnect(socket)
    if (connection) return connection
    await sleep(CONNECT_PAUSE_MS)
  }
  throw new Error(`the engine does not listen on ${socket} after ${CONNECT_TIMEOUT_MS / 1000} s`)
}

function tryConnect(socket: string): Promise<net.Socket | null> {
  return new Promise((resolve) => {
    const connection = net.connect(socket)
    connection.once("connect", () => resolve(connection)).once("error", () => resolve(null))
  })
}

/** A message for the socket: a 4-byte big-endian length and that many bytes of JSON. */
function frame(value: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(value))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length)
  return Buffer.concat([length, body])
}

/** Waits for the result of call 1; heartbeats and events are ignored. */
async function resultOf(connection: net.Socket): Promise<unknown> {
  let pending = Buffer.alloc(0)
  for await (const chunk of connection) {
    pending = Buffer.concat([pending, chunk as Buffer])
    while (pending.length >= 4 && pending.length >= 4 + pending.readUInt32BE(0)) {
      const end = 4 + pending.readUInt32BE(0)
      const message = JSON.parse(pending.subarray(4, end).toString()) as {
        id?: number
        result?: unknown
        error?: unknown
      }
      pending = pending.subarray(end)
      if (message.error !== undefined) throw new Error(`the engine answered ${JSON.stringify(message.error)}`)
      if (message.id === 1 && message.result !== undefined) return message.result
    }
  }
  throw new Error("the engine closed the connection before it answered")
}
