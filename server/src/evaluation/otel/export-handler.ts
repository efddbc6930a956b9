/** What all OTLP export routes do with a request, whatever they store: evaluation-store-calls 8. */
import type { Principal } from "../../http/principal.ts"
import type { RouteContext } from "../../http/route.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { type ExportOutcome, type RejectedName, sendOutcome } from "./otlp-answer.ts"
import { encodingOf } from "./otlp-encoding.ts"
import { ResourceProjects } from "./resource-project.ts"

type Handled = Pick<RouteContext, "principal" | "request" | "reply"> & { body: Buffer }

export function exportHandler<Request>(
  database: CatalogDatabase,
  rejectedName: RejectedName,
  decode: (body: Buffer, contentType: string | undefined) => Request,
  store: (request: Request, projects: ResourceProjects, principal: Principal) => Promise<ExportOutcome>,
): (context: Handled) => Promise<void> {
  return async ({ body, principal, request: { headers }, reply }) => {
    const type = headers["content-type"]
    const projects = new ResourceProjects(database, principal, headers["project_id"])
    const outcome = await store(decode(body, type), projects, principal)
    await sendOutcome(reply, encodingOf(type, body), outcome, rejectedName)
  }
}
