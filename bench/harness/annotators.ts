/** Annotators of a queue, each a user with a key and a connection of their own. */
import http from "node:http"
import type { HeddleServer } from "./heddle-server.ts"
import { ENTITY } from "./heddle-server.ts"

export class Annotator {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  readonly #headers: Record<string, string>
  readonly #url: string

  constructor(url: string, key: string) {
    this.#url = url
    this.#headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  }

  /** Posts and reads one JSON document. @throws {Error} with the answer's text when it is not 200. */
  post<T>(path: string, body: object): Promise<T> {
    const bytes = Buffer.from(JSON.stringify(body))
    return new Promise((resolve, reject) => {
      const call = http.request(this.#url + path, {
        method: "POST",
        agent: this.#agent,
        headers: { ...this.#headers, "content-length": bytes.length },
      })
      call.on("error", reject)
      call.on("response", (response) => {
        const chunks: Buffer[] = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", reject)
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString()
          if (response.statusCode === 200) resolve(JSON.parse(text) as T)
          else reject(new Error(`POST ${path} answered ${response.statusCode}: ${text.slice(0, 500)}`))
        })
      })
      call.end(bytes)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** New users who are members of the benchmark's team. */
export async function newAnnotators(server: HeddleServer, count: number): Promise<Annotator[]> {
  const annotators: Annotator[] = []
  for (let n = 1; n <= count; n++) {
    const username = `annotator-${n}`
    await server.post("/v1/organization/users", { username })
    await server.post(`/v1/organization/teams/${ENTITY}/members`, { username })
    const { value } = await server.post<{ value: string }>("/v1/organization/api_keys", { name: "bench", username })
    annotators.push(new Annotator(server.url, value))
  }
  return annotators
}
