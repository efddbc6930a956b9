/** Sends one request of an attacker over a connection of its own. */
import { connect, type Socket } from "node:net"
import type { Attack, AttackRequest, Team } from "./attack.ts"

/** The answer's status; or "left" and "cut", when the connection ended without one by the client or by the server. */
export type Outcome = number | "left" | "cut"

/** True for an outcome that the attack allows: "left" always, also at the attack's end, and "cut" never. */
export function isExpected(attack: Attack, outcome: string): boolean {
  return outcome === "left" || [...attack.answers, 429, 503].some((status) => outcome === String(status))
}

export interface SentRequest {
  /** Resolves when the client has sent everything, or the connection has ended. */
  sent: Promise<void>
  /** Resolves when the connection has ended. */
  outcome: Promise<Outcome>
}

/** Sends the request; the client leaves when `signal` is aborted. */
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
  // "close", which follows, reports a broken connection.
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

/** Reads the answer's status; with `reads` it reads and drops the rest, too. */
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
