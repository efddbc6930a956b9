/** Which addresses are pages of the web interface. Everything else belongs to the API. */
import { reservedNames } from "../../wire/platform/reserved-names.ts"

/** Pages without a project. */
const serverPages = /^\/(login|design|settings(\/.*)?)?$/

/** Pages of a project: `/{entity}/{project}`, its sections, and the links that the SDKs print (`weave`, `r`, `runs`, `artifacts`, `workspace`). */
const sections = [
  "traces",
  "conversations",
  "models",
  "jobs",
  "base-models",
  "evaluations",
  "compare",
  "objects",
  "queues",
  "playground",
  "train",
  "settings",
  "weave",
  "r",
  "runs",
  "run-comparison",
  "artifacts",
  "workspace",
]
const projectPages = new RegExp(String.raw`^/[^/]+/[^/]+(/(${sections.join("|")})(/.*)?)?/?$`)

const reserved: ReadonlySet<string> = new Set(reservedNames)

/** `path` is without its query. */
export function isPagePath(path: string): boolean {
  return serverPages.test(path) || (!isOfApi(path) && projectPages.test(path))
}

/** Whether the address belongs to the API or to a file, by its first segment, which no entity may be named by. */
export function isOfApi(path: string): boolean {
  return !serverPages.test(path) && reserved.has(path.split("/", 2)[1] ?? "")
}

/**
 * Whether a browser navigates there. API clients name no type, or JSON; a fallback that took any GET would hand
 * HTML to a client with a wrong base URL, where a JSON 404 says what is wrong.
 */
export function wantsPage(method: string | undefined, accept: string | undefined): boolean {
  return (method === "GET" || method === "HEAD") && accept?.includes("text/html") === true
}
