/** Annotators of a queue, each a user with a key and a connection of their own. */
import { ENTITY, type HeddleServer } from "./heddle-server.ts"
import { Poster } from "./post.ts"

export class Annotator {
  readonly #poster = new Poster(1)
  readonly #headers: Record<string, string>
  readonly #url: string

  constructor(url: string, key: string) {
    this.#url = url
    this.#headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  }

  /** Posts and reads one JSON document. @throws {Refused} */
  async post<T>(path: string, body: object): Promise<T> {
    const bytes = Buffer.from(JSON.stringify(body))
    return JSON.parse(await this.#poster.post(this.#url + path, bytes, this.#headers)) as T
  }

  close(): void {
    this.#poster.close()
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
