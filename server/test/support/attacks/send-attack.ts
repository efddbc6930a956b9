/** One request of an attacker, over a connection of its own. */
import { connect, type Socket } from "node:net"
import type { Attack, AttackRequest, Team } from "./attack.ts"

/** A status; or the connection ended without one: because the client left, or because the server cut it. */
export type Outcome = number | "left" | "cut"

/** "left": also at the end of an attack, by the connections that were open then. "cut": no answer, not even a refusal. */
export function isExpected(attack: Attack, outcome: string): boolean {
  return outcome === "left" || [...attack.answers, 429, 503].some((status) => outcome === String(status))
}

export interface SentRequest {
  /** The client has sent all that it sends, or the connection has ended. */
  sent: Promise<void>
  /** Known when the connection has ended. */
  outcome: Promise<Outcome>
}

/** `signal`: the client leaves. */
export function sendAttack(
  url: string,
  { key }: Pick<Team, "key">,
  request: AttackRequest,
  signal: AbortSignal,
  turn = 0,
): SentRequest {
  const { hostname, port } = new URL(url)
  const { manner = "reads" } = request
  const body = typeof request.body === "function" ? request.body(turn) : request.body
  const socket = connect(Number(port), hostname)
  const leave = () => void socket.destroy()
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  const written = new Promise<void>((resolve) => {
    socket.once("connect", () => {
      socket.write(headOf(request, key, body.length))
      if (manner === "does not end its head") return resolve()
      socket.write(body, () => {
        resolve()
        if (manner === "leaves") leave()
      })
    })
  })
  signal.addEventListener("abort", leave)
  // A broken connection is told by "close".
  socket.on("error", () => undefined)
  const status = statusOf(socket, manner !== "does not read")
  const outcome = ended.then((): Outcome => {
    signal.removeEventListener("abort", leave)
    return status() ?? (signal.aborted || manner === "leaves" ? "left" : "cut")
  })
  return { sent: Promise.race([written, ended]), outcome }
}

function headOf({ path, headers, manner }: AttackRequest, key: string, length: number): string {
  const isWhole = manner !== "does not end its body"
  const lines = {
    host: "heddle",
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    connection: "close",
    ...(headers?.["transfer-encoding"] === undefined && { "content-length": `${isWhole ? length : length + 1000}` }),
    ...headers,
  }
  const head = `POST ${path} HTTP/1.1\r\n${Object.entries(lines)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}`
  return manner === "does not end its head" ? head : `${head}\r\n`
}

/** Reads the answer and keeps only its status; `reads`: also what comes after it. */
function statusOf(socket: Socket, reads: boolean): () => number | null {
  let start = ""
  let status: number | null = null
  socket.on("data", (data: Buffer) => {
    if (status !== null) return
    start += data.toString("latin1")
    const found = /^HTTP\/1\.1 (\d{3})/.exec(start)?.[1]
    if (found === undefined) return
    status = Number(found)
    if (!reads) socket.pause()
  })
  return () => status
}
