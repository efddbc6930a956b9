/** The pages of `docs/` for people who use the server, as Markdown: `/docs/guide/…`, `/docs/reference/…`, and their list for models, `/llms.txt`. */
import type { FastifyInstance } from "fastify"
import { readdir, readFile } from "node:fs/promises"

export interface Guide {
  /** Below `docs/`, such as `guide/labelling.md`. */
  path: string
  title: string
  /** What README.md says of it; empty: nothing. */
  summary: string
  text: string
}

const root = new URL("../../../../", import.meta.url)
const folders = ["guide", "reference"] as const

/** Sorted by path. Where the server was installed without its pages there are none. */
export async function readGuides(): Promise<Guide[]> {
  const summaries = summariesIn(await readFile(new URL("README.md", root), "utf8").catch(absent("")))
  const read = folders.map(async (folder) => {
    const names = await readdir(new URL(`docs/${folder}/`, root)).catch(absent([]))
    const paths = names.filter((name) => name.endsWith(".md")).map((name) => `${folder}/${name}`)
    return Promise.all(paths.toSorted().map((path) => readGuide(path, summaries.get(path) ?? "")))
  })
  return (await Promise.all(read)).flat()
}

async function readGuide(path: string, summary: string): Promise<Guide> {
  const text = await readFile(new URL(`docs/${path}`, root), "utf8")
  const [, title = path] = /^# (.+)$/m.exec(text) ?? []
  return { path, title, summary, text }
}

/** Its list of pages: `- [docs/guide/x.md](docs/guide/x.md): words`, also over several lines. */
function summariesIn(readme: string): Map<string, string> {
  const items = readme.matchAll(/^- \[[^\]]+\]\(docs\/(\S+\.md)\): (.+(?:\n {2}.+)*)/gm)
  return new Map(Array.from(items, ([, path = "", words = ""]) => [path, words.replaceAll(/\s+/g, " ")]))
}

function absent<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT") return instead
    throw error
  }
}

export function registerGuides(server: FastifyInstance, guides: readonly Guide[]): void {
  const list = llmsText(guides)
  server.get("/llms.txt", (_request, reply) => reply.type("text/plain; charset=utf-8").send(list))
  for (const { path, text } of guides) {
    server.get(`/docs/${path}`, (_request, reply) => reply.type("text/markdown; charset=utf-8").send(text))
  }
}

/** In the form of llmstxt.org. Addresses are relative to its own, which a proxy may have put under a prefix. */
function llmsText(guides: readonly Guide[]): string {
  const links = (folder: string) =>
    guides
      .filter(({ path }) => path.startsWith(`${folder}/`))
      .map(({ path, title, summary }) => `- [${title}](docs/${path})${summary === "" ? "" : `: ${summary}`}`)
      .join("\n")
  return `# Heddle

> One server that trains, serves, traces, evaluates and labels language models, behind the APIs of W&B Training, Inference and
> Weave and of the wandb SDK, whose clients work with it unchanged.

Every request but the health checks needs the header \`Authorization: Bearer <key>\`. Projects are named \`entity/project\`. Coding agents
reach everything that they need as tools of the Model Context Protocol, at \`mcp\` on this server.

## API

- [OpenAPI document](openapi.json): every route with its fields, errors and an example.

## Guides

${links("guide")}

## Optional

${links("reference")}
`
}
