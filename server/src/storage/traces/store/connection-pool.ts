/** Connections to a ClickHouse server that requests share, none of which is used again when the server may have closed it. */
import { Agent, type AgentOptions, type ClientRequest } from "node:http"
import { Agent as TlsAgent } from "node:https"
import type { Duplex } from "node:stream"

/** Shorter than a server keeps an idle connection: by default ClickHouse 3 to 30 s, by its version. */
const longestIdleMs = 2_500

/** What a request asks of its agent. Node's types leave it out. */
interface TakesRequests {
  addRequest(request: ClientRequest, options: object): void
}

/** At most so many connections at a time, to the server of `url`. */
export function connectionPool(url: string, connections: number): Agent {
  // The one that waits longest goes first: Node passes over closed ones at that end only.
  const options: AgentOptions = { keepAlive: true, maxSockets: connections, timeout: longestIdleMs, scheduling: "fifo" }
  const pool = new URL(url).protocol === "https:" ? new TlsAgent(options) : new Agent(options)
  closeOverdue(pool as Agent & TakesRequests)
  return pool
}

/**
 * Node closes what is idle for too long by a timer, which comes late when the event loop is busy or the machine slept. The
 * server has closed it by then, and the request that it is given to would fail. So each request looks at the clock first.
 */
function closeOverdue(pool: Agent & TakesRequests): void {
  const idleSince = new WeakMap<Duplex, number>()
  const { keepSocketAlive, addRequest } = pool
  pool.keepSocketAlive = (socket) => {
    idleSince.set(socket, Date.now())
    return keepSocketAlive.call(pool, socket)
  }
  pool.addRequest = (request, options) => {
    for (const socket of Object.values(pool.freeSockets).flatMap((sockets) => sockets ?? [])) {
      const idle = Date.now() - (idleSince.get(socket) ?? 0)
      // Shorter where the server says so. A clock that was set back tells nothing.
      if (idle < 0 || idle >= (socket.timeout ?? longestIdleMs)) socket.destroy()
    }
    addRequest.call(pool, request, options)
  }
}
