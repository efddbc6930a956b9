/**
 * Clients may reach the server under any path prefix (training-api 0), and the evaluation store
 * under `/traces` too. This finds the part of a URL that our routes know.
 */

const ourFirstSegments = new Set(["v1", "v2", "docs", "health", "openapi.json", "traces", "graphql", "files"])

/** `/some/prefix/v1/models?x` → `/v1/models?x`; URLs that start with one of our own segments stay as they are. */
export function rootPath(url: string): string {
  const queryAt = url.indexOf("?")
  const path = queryAt === -1 ? url : url.slice(0, queryAt)
  const first = path.split("/", 2)[1] ?? ""
  if (first === "traces") return url.slice("/traces".length) || "/"
  if (ourFirstSegments.has(first)) return url
  const versionAt = path.search(/\/v1(?=\/|$)/)
  return versionAt <= 0 ? url : url.slice(versionAt)
}
