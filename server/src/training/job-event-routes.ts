/** Events of a job: row 11 of training-api 1.1, as pages and as a stream that follows the job (training-api 3.2). */
import type { IncomingHttpHeaders } from "node:http"
import { HeddleError } from "../errors.ts"
import { sendEvents } from "../http/answers/event-stream.ts"
import { type Route, route } from "../http/route.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { listEvents, sequenceOfEvent } from "../storage/catalog/training/training-events.ts"
import { eventPage, jobParams } from "../wire/training/job.ts"
import { pageQuery, toPage } from "../wire/training/page.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { detailForm, followJob, toWireEvent } from "./follow-job.ts"
import { jobOf } from "./model-access.ts"

/** `closing` fires when the server takes no more requests: streams that follow a job end. */
export function jobEventRoutes({ database }: TrainingDependencies, closing: AbortSignal): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/preview/training-jobs/:training_job_id/events",
      access: { right: "read", of: "training job path.training_job_id" },
      dialect: "detail",
      summary: "List a job's events, oldest first, or follow them as server-sent events",
      tag: "Training jobs",
      schemas: { params: jobParams, query: pageQuery },
      response: eventPage,
      answerTypes: ["application/json", "text/event-stream"],
      handle: async ({ params, query, principal, request, reply, signal }) => {
        const job = await jobOf(database, principal, params.training_job_id)
        if (!wantsStream(request.headers)) {
          const events = await listEvents(database, job.id, await placeOf(database, job.id, query), query.limit + 1)
          return toPage(events.map(toWireEvent), query.limit)
        }
        const lastId = request.headers["last-event-id"]
        // A browser that connects again repeats its address, `after` included, and sends what it saw last.
        const after = typeof lastId === "string" && lastId !== "" ? { lastId } : query
        const start = await placeOf(database, job.id, after)
        const isThere = async () => void (await jobOf(database, principal, job.id))
        const until = AbortSignal.any([signal, closing])
        await sendEvents(reply, followJob({ database, jobId: job.id, isThere, until }, start), { form: detailForm })
        return undefined
      },
    }),
  ]
}

/** Who takes JSON as well gets the page. */
function wantsStream({ accept = "" }: IncomingHttpHeaders): boolean {
  return accept.includes("text/event-stream") && !accept.includes("application/json")
}

/** @throws {HeddleError} 404 for an id that is none of the job's. */
async function placeOf(
  database: CatalogDatabase,
  jobId: string,
  { after, lastId }: { after?: string | undefined; lastId?: string },
): Promise<number> {
  const id = lastId ?? after
  if (id === undefined) return -1
  const place = await sequenceOfEvent(database, jobId, id)
  if (place !== null) return place
  const name = lastId === undefined ? "after" : "Last-Event-ID"
  throw new HeddleError("not_found", `${name}: "${id}" is no event of this job; without it all events come`)
}
