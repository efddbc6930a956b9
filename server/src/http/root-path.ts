/**
 * Clients may reach the server under a path prefix, and the evaluation store under `/traces` too.
 * This finds the part of a URL that our routes know.
 */

import { isPagePath } from "./pages/page-paths.ts"

/** The `/v1` at which an OpenAI-style base URL ends. The OTLP paths of the evaluation store have their own `v1`. */
const versionSegment = /(?<!\/otel)\/v1(?=\/|$)/

/**
 * `/some/prefix/v1/models?x` → `/v1/models?x` (training-api 0), `/traces/call/read` → `/call/read`
 * (objects 1), and the operator's own `prefix`, such as `/heddle`, comes off any path.
 */
export class RootPath {
  readonly #prefix: string | null
  /** First segments of our own routes: a URL that starts with one stays as it is, whatever follows. */
  readonly #known = new Set<string>()

  constructor(prefix: string | null) {
    this.#prefix = prefix
  }

  learn(routeUrl: string): void {
    const first = firstSegment(routeUrl)
    if (first !== "" && !/[:*]/.test(first)) this.#known.add(first)
  }

  /** `page`: a browser navigates there, and what names a page is nothing else: its `v1` may be a version or a project. */
  of(url: string, page = false): string {
    const inside = this.#prefix === null ? url : without(this.#prefix, url)
    if (page && isPagePath(inside.split("?", 1)[0] as string)) return inside
    const plain = without("/traces", inside)
    const path = plain.split("?", 1)[0] as string
    if (this.#known.has(firstSegment(path))) return plain
    const versionAt = path.search(versionSegment)
    return versionAt <= 0 ? plain : plain.slice(versionAt)
  }
}

function firstSegment(path: string): string {
  return path.split("/", 2)[1] ?? ""
}

function without(prefix: string, url: string): string {
  if (!url.startsWith(prefix)) return url
  const rest = url.slice(prefix.length)
  if (rest === "" || rest.startsWith("?")) return `/${rest}`
  return rest.startsWith("/") ? rest : url
}
