/** `/annotation_queues/{queue_id}/items`: evaluation-store-objects 2.5 and 6, and what hands items out. */
import { type Route, route } from "../../http/route.ts"
import {
  itemHistory,
  leaseAnswer,
  leaseBody,
  nextBody,
  nextItem,
  released,
  undoAnswer,
  undoBody,
} from "../../wire/labelling/annotation-lease.ts"
import {
  itemAnswer,
  itemParams,
  itemsAddBody,
  itemsAdded,
  itemsPage,
  itemsQueryBody,
  ofProject,
  progressBody,
  queueParams,
} from "../../wire/labelling/annotation-queue.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { addCalls, queryItems, readItemHistory, takeItemOut } from "./items.ts"
import { handOutNext, holdItem, releaseItem, setProgress, undoProgress } from "./progress.ts"
import { queueFor } from "./queues.ts"

const shared = { dialect: "reason", tag: "Annotation queues" } as const
const items = "/annotation_queues/:queue_id/items"
const item = `${items}/:item_id`

export function annotationItemRoutes(dependencies: StoreDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      ...shared,
      method: "POST",
      path: items,
      access: { right: "write", of: "project body.project_id" },
      summary: "Add calls to a queue",
      schemas: { params: queueParams, body: itemsAddBody },
      response: itemsAdded,
      handle: async ({ params, body, principal }) => {
        const access = await queueFor(database, principal, body.project_id, params.queue_id)
        return addCalls(dependencies, access, body)
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: `${items}/query`,
      access: { right: "read", of: "project body.project_id" },
      summary: "Items of a queue, by filter, sort and page",
      schemas: { params: queueParams, body: itemsQueryBody },
      response: itemsPage,
      handle: async ({ params, body, principal }) => {
        const access = await queueFor(database, principal, body.project_id, params.queue_id)
        return { items: await queryItems(database, access, body) }
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: `${items}/next`,
      access: { right: "label", of: "project body.project_id" },
      summary: "Hand the caller the item they hold, else the next one, and some ahead, each under a lease",
      schemas: { params: queueParams, body: nextBody },
      response: nextItem,
      handle: async ({ params, body, principal }) => {
        const access = await queueFor(database, principal, body.project_id, params.queue_id)
        return handOutNext(database, access, {
          leaseSeconds: body.lease_seconds ?? null,
          ahead: body.ahead ?? null,
        })
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: `${item}/progress`,
      access: { right: "label", of: "project body.project_id" },
      summary: "Say how far the caller is with an item",
      schemas: { params: itemParams, body: progressBody },
      response: itemAnswer,
      handle: async ({ params, body, principal }) => {
        const access = await queueFor(database, principal, body.project_id, params.queue_id)
        return { item: await setProgress(database, access, params.item_id, body.annotation_state) }
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: `${item}/progress/undo`,
      access: { right: "label", of: "project body.project_id" },
      summary: "Take the caller's completed or skipped back",
      schemas: { params: itemParams, body: undoBody },
      response: undoAnswer,
      handle: async ({ params, body, principal }) => {
        const access = await queueFor(database, principal, body.project_id, params.queue_id)
        return undoProgress(database, access, params.item_id)
      },
    }),
    route({
      ...shared,
      method: "PUT",
      path: `${item}/lease`,
      access: { right: "label", of: "project body.project_id" },
      summary: "Take or prolong the caller's lease on an item",
      schemas: { params: itemParams, body: leaseBody },
      response: leaseAnswer,
      handle: async ({ params, body, principal }) => {
        const access = await queueFor(database, principal, body.project_id, params.queue_id)
        return holdItem(database, access, params.item_id, body.lease_seconds ?? null)
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: `${item}/lease`,
      access: { right: "label", of: "project query.project_id" },
      summary: "Give an item back to the queue",
      schemas: { params: itemParams, query: ofProject },
      response: released,
      handle: async ({ params, query, principal }) => {
        const access = await queueFor(database, principal, query.project_id, params.queue_id)
        await releaseItem(database, access, params.item_id)
        return {}
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: `${item}/history`,
      access: { right: "read", of: "project query.project_id" },
      summary: "What annotators did with an item, in order",
      schemas: { params: itemParams, query: ofProject },
      response: itemHistory,
      handle: async ({ params, query, principal }) => {
        const access = await queueFor(database, principal, query.project_id, params.queue_id)
        return { history: await readItemHistory(database, access, params.item_id) }
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: item,
      access: { right: "write", of: "project query.project_id" },
      summary: "Take an item out of its queue",
      schemas: { params: itemParams, query: ofProject },
      response: itemAnswer,
      handle: async ({ params, query, principal }) => {
        const access = await queueFor(database, principal, query.project_id, params.queue_id)
        return { item: await takeItemOut(dependencies, access, params.item_id) }
      },
    }),
  ]
}
