/** `POST /v1/responses`, for base models and every step of trained ones, and the answers that it stores (art-0.5.23 6). */
import { requireRightIn, teamIds } from "../../access/can.ts"
import { HeddleError } from "../../errors.ts"
import type { Gateway } from "../../gateway/gateway.ts"
import { type Route, route } from "../../http/route.ts"
import { parseExact } from "../../json/exact-json.ts"
import { findResponsePlace } from "../../storage/catalog/inference/stored-responses.ts"
import { usageOf } from "../../storage/team-usage.ts"
import {
  deletedResponse,
  inputItemList,
  inputItemsQuery,
  responseAnswer,
  type ResponseAnswer,
  type ResponseInputItem,
  responseParams,
  responseQuery,
  responsesRequest,
} from "../../wire/inference/responses.ts"
import { admit, answerId, unixSeconds } from "../completion-request.ts"
import type { InferenceDependencies } from "../dependencies.ts"
import { sendEvents, typedEvent } from "../../http/answers/event-stream.ts"
import { withExactFields } from "../exact-fields.ts"
import { type AdmittedChat, sampleChat, sampleStream } from "../chat/sampled-chat.ts"
import { refused } from "../unsupported.ts"
import { inputTokensRoute } from "./input-tokens-route.ts"
import { cancelled, OpenResponses } from "./open-responses.ts"
import { isStored, ResponseEvents, type ResponseFrame, toResponse, unfinished } from "./response-answer.ts"
import { toItems, withUniqueIds } from "./response-items.ts"
import { exactResponsesFields, toResponsesCall } from "./responses-request.ts"
import { StoredResponses } from "./stored-responses.ts"

export function responsesRoutes(dependencies: InferenceDependencies): Route[] {
  const stored = new StoredResponses(dependencies.database, dependencies.limits)
  const open = new OpenResponses()
  return [
    createRoute(dependencies, stored, open),
    inputTokensRoute(dependencies, stored),
    cancelRoute(dependencies, stored, open),
    ...storedRoutes(stored),
  ]
}

function createRoute(
  { database, gateway, limits }: InferenceDependencies,
  stored: StoredResponses,
  open: OpenResponses,
): Route {
  return route({
    method: "POST",
    path: "/v1/responses",
    access: { right: "write", of: "model body.model", train: true },
    dialect: "openai",
    summary: "Ask a base model or a checkpoint, in the form of OpenAI's Responses",
    tag: "Chat",
    schemas: { body: responsesRequest },
    maximumBodyBytes: limits.prompt_body_bytes,
    response: responseAnswer,
    answerTypes: ["application/json", "text/event-stream"],
    handle: async (context) => {
      const { reply, signal, principal } = context
      const body = withExactFields(context.body, context.exactBody, exactResponsesFields)
      const earlier = await stored.dialogue(principal, body.previous_response_id)
      const own = toItems(await stored.withNamedItems(principal, body.input))
      const call = toResponsesCall(body, own, earlier)
      const size = { prompts: 1, choices: 1, maxTokens: call.sampling.max_tokens }
      const admitted = await admit(gateway, context, size)
      const id = answerId("resp")
      const frame = { id, created: unixSeconds(), request: body, parallel: body.parallel_tool_calls ?? true }
      const chat = { id, protocol: "responses", admitted, call } as const
      const making = { ...open.begin(admitted.projectId, frame, signal), chat, frame }
      const keep = async (answer: ResponseAnswer) => {
        making.complete()
        if (isStored(body)) await stored.store(admitted.projectId, [...earlier, ...own], answer)
      }
      try {
        if (isStored(body)) await usageOf(database)?.requireRoom(admitted.team)
        if (body.stream !== true) return await whole(gateway, making, keep)
        const events = new ResponseEvents(frame)
        const failure = (error: HeddleError) => typedEvent(events.failed(error, making.isCancelled()))
        await sendEvents(reply, streamed(gateway, making, events, keep), { form: { end: "", failure } })
      } catch (error) {
        making.end()
        await admitted.release()
        throw error
      }
    },
  })
}

interface Making extends ReturnType<OpenResponses["begin"]> {
  chat: AdmittedChat
  frame: ResponseFrame
}

type Keep = (answer: ResponseAnswer) => Promise<void>

async function whole(gateway: Gateway, making: Making, keep: Keep): Promise<ResponseAnswer> {
  try {
    const answer = toResponse(making.frame, await sampleChat(gateway, making.chat, making.signal))
    await keep(answer)
    return answer
  } catch (error) {
    throw making.isCancelled() ? cancelled(making.frame.id) : error
  } finally {
    making.end()
  }
}

async function* streamed(gateway: Gateway, making: Making, events: ResponseEvents, keep: Keep): AsyncGenerator<string> {
  try {
    await using batches = sampleStream(gateway, making.chat, making.signal)
    let next = await batches.next()
    while (next.done !== true) {
      const text = next.value.flatMap((each) => events.of(each)).map(typedEvent)
      if (text.length > 0) yield text.join("")
      next = await batches.next()
    }
    const { events: last, answer } = events.end(next.value)
    await keep(answer)
    yield last().map(typedEvent).join("")
  } catch (error) {
    throw making.isCancelled() ? cancelled(making.frame.id) : error
  } finally {
    making.end()
  }
}

function cancelRoute({ database }: InferenceDependencies, stored: StoredResponses, open: OpenResponses): Route {
  return route({
    method: "POST",
    path: "/v1/responses/:response_id/cancel",
    access: { right: "write", of: "response path.response_id", train: true },
    dialect: "openai",
    summary: "End a response that is being made",
    tag: "Chat",
    schemas: { params: responseParams },
    response: responseAnswer,
    handle: async ({ params: { response_id: id }, principal }) => {
      const making = open.find(id)
      const place = making && (await findResponsePlace(database, making.projectId, teamIds(principal)))
      if (making !== null && place !== null) {
        requireRightIn(principal, place.project_id, place)
        if (open.cancel(id)) return unfinished(making.frame, "cancelled")
      } else await stored.read(principal, id)
      throw refused("response_id", `the response "${id}" has ended; DELETE /v1/responses/${id} removes it`)
    },
  })
}

function storedRoutes(stored: StoredResponses): Route[] {
  const ofOne = { dialect: "openai", tag: "Chat" } as const
  const of = "response path.response_id" as const
  return [
    route({
      ...ofOne,
      access: { right: "read", of },
      method: "GET",
      path: "/v1/responses/:response_id",
      summary: "Read a stored response",
      schemas: { params: responseParams, query: responseQuery },
      response: responseAnswer,
      handle: async ({ params, query, principal, reply }) => {
        if (query.stream === "true") throw refused("stream", "what has ended is not streamed; leave it out")
        const { answer } = await stored.read(principal, params.response_id)
        reply.type("application/json; charset=utf-8").send(answer)
      },
    }),
    route({
      ...ofOne,
      access: { right: "write", of },
      method: "DELETE",
      path: "/v1/responses/:response_id",
      summary: "Delete a stored response",
      schemas: { params: responseParams },
      response: deletedResponse,
      handle: async ({ params: { response_id: id }, principal }) => {
        await stored.delete(principal, id)
        return { id, object: "response", deleted: true }
      },
    }),
    route({
      ...ofOne,
      access: { right: "read", of },
      method: "GET",
      path: "/v1/responses/:response_id/input_items",
      summary: "List what a stored response answered to",
      schemas: { params: responseParams, query: inputItemsQuery },
      response: inputItemList,
      handle: async ({ params, query: { limit, order, after }, principal }) => {
        const { input } = await stored.read(principal, params.response_id)
        const all = withUniqueIds(parseExact(input) as ResponseInputItem[])
        const ordered = order === "asc" ? all : all.toReversed()
        const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1
        if (after !== undefined && from === 0) throw noSuchItem(after)
        const data = ordered.slice(from, from + limit)
        const has_more = ordered.length > from + limit
        return { object: "list", data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more }
      },
    }),
  ]
}

function noSuchItem(id: string): HeddleError {
  return new HeddleError("not_found", `after: the response has no input item "${id}"`, { param: "after" })
}
