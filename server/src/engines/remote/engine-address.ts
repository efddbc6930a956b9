/** Where an engine on another machine listens, and how a connection to it is opened. */
import { connect, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"

export interface EngineAddress {
  /** As it was set. */
  url: string
  host: string
  port: number
  isTls: boolean
}

const connectTimeoutMs = 10_000
/** A machine that is gone says nothing. */
const keepAliveMs = 15_000

/** @throws {Error} with a sentence for the operator, that names the one at fault. */
export function parseEngineAddresses(texts: readonly string[]): EngineAddress[] {
  const byPlace = new Map<string, EngineAddress>()
  for (const address of texts.map(parseEngineAddress)) {
    const place = `${address.host.toLowerCase()}:${address.port}`
    const other = byPlace.get(place)
    if (other !== undefined) {
      throw new Error(`HEDDLE_ENGINE_URLS names an engine twice: "${other.url}" and "${address.url}"`)
    }
    byPlace.set(place, address)
  }
  return [...byPlace.values()]
}

function parseEngineAddress(text: string): EngineAddress {
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain = url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === ""
  if (!isPlain || !/^t(cp|ls):$/.test(url.protocol) || url.port === "" || !/^\/?$/.test(url.pathname)) {
    throw new Error(
      `HEDDLE_ENGINE_URLS must be an address such as tls://gpu.example:8090 or tcp://127.0.0.1:8090, not "${text}"`,
    )
  }
  const host = url.hostname.replace(/^\[|\]$/g, "")
  return { url: text, host, port: Number(url.port), isTls: url.protocol === "tls:" }
}

/**
 * Opens a connection; one to a `tls:` address only where its certificate names the host and is signed by `ca`, or by an
 * authority that the system trusts where that is null.
 * @throws {Error} with a sentence for the operator.
 */
export async function connectEngine(address: EngineAddress, ca: string | null, signal: AbortSignal): Promise<Socket> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)])
  const socket = open(address, ca)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abort = () => reject(new Error(`it did not answer within ${connectTimeoutMs / 1000} s`))
  const close = () => reject(new Error("it closed the connection"))
  either.addEventListener("abort", abort, { once: true })
  socket
    .once(address.isTls ? "secureConnect" : "connect", resolve)
    .once("error", reject)
    .once("close", close)
  try {
    await promise
  } catch (error) {
    socket.on("error", () => undefined).destroy()
    throw new Error(`cannot reach the engine at ${address.url}: ${worded(error as NodeJS.ErrnoException)}`, {
      cause: error,
    })
  } finally {
    either.removeEventListener("abort", abort)
    socket.off("error", reject).off("close", close)
  }
  return socket
}

function open({ host, port, isTls }: EngineAddress, ca: string | null): Socket {
  const options = { host, port, keepAlive: true, keepAliveInitialDelay: keepAliveMs, noDelay: true }
  if (!isTls) return connect(options)
  const socket = connectTls({ ...options, minVersion: "TLSv1.3", rejectUnauthorized: true, ...(ca !== null && { ca }) })
  // Of these options a TLS socket takes none.
  return socket.setKeepAlive(true, keepAliveMs).setNoDelay(true)
}

const certificateFaults =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE))$/

function worded({ code = "", message }: NodeJS.ErrnoException): string {
  if (certificateFaults.test(code)) {
    return `no known authority has signed its certificate (${code}); HEDDLE_ENGINE_CA_FILE names the one that has`
  }
  return message === "" ? code : message
}
