/** Requests that commands send to a running server. */
import { createWriteStream, rmSync } from "node:fs"
import { rename, rm, stat } from "node:fs/promises"
import { request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { pipeline } from "node:stream/promises"
import { text } from "node:stream/consumers"
import { SetupError } from "./setup/progress.mjs"
import { beforeEnding } from "./setup/run.mjs"

/** Options of `parseArgs` for the server's address and the key. */
export const serverOptions = () => ({
  url: { type: "string", default: process.env.HEDDLE_URL ?? "http://127.0.0.1:8080" },
  key: { type: "string", default: process.env.HEDDLE_API_KEY ?? process.env.WANDB_API_KEY },
})

/** @param base may have a path, under which a proxy serves Heddle; `route` is appended to it. */
export function routeOf(base, route) {
  return new URL(base.replace(/\/+$/, "") + route)
}

/**
 * Sends a request without the time limits of `fetch`, because a large export may send no byte for minutes. `whenBroken` follows
 * what is said of a connection that broke.
 */
export function send(url, key, { method = "POST", headers = {}, write = (out) => out.end(), whenBroken = "" } = {}) {
  const request = url.protocol === "https:" ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const out = request(url, { method, headers: { ...headers, authorization: `Bearer ${key}` } }, (answer) => {
      if (answer.statusCode === 200) return resolve(answer)
      text(answer).then((body) => reject(new SetupError(`${url.pathname}: ${answer.statusCode} ${body}`)), reject)
    })
    let isReached = false
    out.on("socket", (socket) => socket.once("connect", () => (isReached = true)))
    out.on("error", ({ message }) => {
      const what = isReached ? `the connection to ${url.origin} broke` : `${url.origin} cannot be reached`
      reject(new SetupError(`${what}: ${message}${isReached ? whenBroken : ""}`))
    })
    write(out)
  })
}

/** Saves the answer as a file, which is written whole or not at all. */
export async function saveAnswer(answer, file) {
  const unfinished = `${file}.part`
  const release = beforeEnding(() => rmSync(unfinished, { force: true }))
  try {
    await pipeline(answer, createWriteStream(unfinished))
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw new SetupError(`the export broke off: ${error.message}`)
  } finally {
    release()
  }
  console.log(`${file}: ${(await stat(file)).size} bytes`)
}

export function oneOf(name, value, known) {
  if (known.includes(value)) return value
  throw new SetupError(`--${name} is "${value}": choose one of ${known.join(", ")}`)
}
