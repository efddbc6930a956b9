/** A model hub on this machine, for Hugging Face's client: one model, whose files can be held back or broken off. */
import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import path from "node:path"

export type HowAFileComes = "whole" | "broken off" | "held back"

export interface ModelHub extends AsyncDisposable {
  /** Settings of the engine that make it use this hub. */
  env: { HF_ENDPOINT: string; HF_HUB_DISABLE_XET: string; HF_HUB_DOWNLOAD_TIMEOUT: string }
  /** Files that were requested, in order. */
  asked: string[]
  /** Sets how weights are sent from now on; files that are held back go on. */
  setWeights(how: HowAFileComes): void
  /** Removes the files whose names match. */
  remove(names: RegExp): void
}

const revision = "0123456789abcdef0123456789abcdef01234567"

export async function openModelHub(name: string, files: Map<string, Buffer>): Promise<ModelHub> {
  const asked: string[] = []
  let how: HowAFileComes = "whole"
  let goOn: (() => void)[] = []
  const hub = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  async function answer({ url = "", method }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(url, "http://hub")
    const list = [...files].map(([file, content]) => ({ path: file, size: content.length, oid: oid(content) }))
    if (pathname === `/api/models/${name}/revision/main` || pathname === `/api/models/${name}`) {
      return json(response, { id: name, sha: revision, siblings: list.map((one) => ({ rfilename: one.path })) })
    }
    if (pathname === `/api/models/${name}/tree/${revision}`) {
      return json(
        response,
        list.map((one) => ({ type: "file", ...one })),
      )
    }
    const file = new RegExp(`^/${name}/resolve/(?:main|${revision})/(.+)$`).exec(pathname)?.[1]
    const content = file === undefined ? undefined : files.get(decodeURIComponent(file))
    if (file === undefined || content === undefined) {
      response.writeHead(404, { "X-Error-Code": file === undefined ? "RepoNotFound" : "EntryNotFound" }).end()
      return
    }
    response.writeHead(200, {
      ETag: `"${oid(content)}"`,
      "X-Repo-Commit": revision,
      "Content-Length": content.length,
    })
    if (method === "HEAD") return void response.end()
    asked.push(file)
    if (file.endsWith(".safetensors") && how !== "whole") {
      response.write(content.subarray(0, content.length / 2))
      if (how === "broken off") return void setTimeout(() => response.destroy(), 50)
      await new Promise<void>((resolve) => goOn.push(resolve))
      return void response.end(content.subarray(content.length / 2))
    }
    response.end(content)
  }
  await new Promise<void>((resolve) => hub.listen(0, "127.0.0.1", resolve))
  const address = hub.address()
  if (address === null || typeof address === "string") throw new Error("the hub has no port")
  return {
    env: {
      HF_ENDPOINT: `http://127.0.0.1:${address.port}`,
      HF_HUB_DISABLE_XET: "1",
      HF_HUB_DOWNLOAD_TIMEOUT: "5",
    },
    asked,
    setWeights(next) {
      how = next
      for (const resolve of goOn) resolve()
      goOn = []
    },
    remove(names) {
      for (const file of files.keys()) if (names.test(file)) files.delete(file)
    },
    async [Symbol.asyncDispose]() {
      hub.closeAllConnections()
      await new Promise((resolve) => hub.close(resolve))
    },
  }
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body))
}

const oid = (content: Buffer) => createHash("sha1").update(content).digest("hex")

/** The files of a model's folder, with its weights split into two shards. */
export async function shardedModel(folder: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(folder)).filter((name) => /\.(json|jinja)$/.test(name))
  const files = new Map<string, Buffer>()
  for (const name of names) files.set(name, await readFile(path.join(folder, name)))
  const shards = split(await readFile(path.join(folder, "model.safetensors")))
  const weightMap: Record<string, string> = {}
  for (const [n, shard] of shards.entries()) {
    const name = `model-0000${n + 1}-of-00002.safetensors`
    files.set(name, shard.content)
    for (const tensor of shard.tensors) weightMap[tensor] = name
  }
  files.set("model.safetensors.index.json", Buffer.from(JSON.stringify({ metadata: {}, weight_map: weightMap })))
  return files
}

interface Shard {
  tensors: string[]
  content: Buffer
}

/**
 * Splits a safetensors file, which has the header's length (8 bytes, little end first), the header in JSON, and
 * tensors.
 */
function split(whole: Buffer): [Shard, Shard] {
  const headerEnd = 8 + Number(whole.readBigUInt64LE())
  const { __metadata__: _, ...header } = JSON.parse(whole.subarray(8, headerEnd).toString()) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >
  const entries = Object.entries(header)
  const part = (chosen: typeof entries): Shard => {
    let end = 0
    const bytes: Buffer[] = []
    const described = chosen.map(([name, { data_offsets: at, ...tensor }]) => {
      bytes.push(whole.subarray(headerEnd + at[0], headerEnd + at[1]))
      const start = end
      end += at[1] - at[0]
      return [name, { ...tensor, data_offsets: [start, end] }]
    })
    const text = Buffer.from(JSON.stringify(Object.fromEntries(described)))
    const length = Buffer.alloc(8)
    length.writeBigUInt64LE(BigInt(text.length))
    return { tensors: chosen.map(([name]) => name), content: Buffer.concat([length, text, ...bytes]) }
  }
  const half = Math.ceil(entries.length / 2)
  return [part(entries.slice(0, half)), part(entries.slice(half))]
}
