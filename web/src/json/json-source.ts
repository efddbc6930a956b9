/**
 * A JSON document that a page reads from. A small one is read here: a worker would only add its own start to that. A large
 * one is read in a worker, so that the page never stops.
 */
import { JsonDocument, type JsonMatches, type JsonNode, type JsonStep } from "./json-document.ts"

export interface JsonSource {
  root(): Promise<JsonNode>
  children(start: number, from: number, count: number): Promise<JsonNode[]>
  textOf(start: number, end: number): Promise<string>
  find(query: string, most: number): Promise<JsonMatches>
  wayTo(place: number): Promise<JsonStep[]>
  close(): void
}

/** Indexed within about 5 ms. */
const smallLength = 500_000

/** Copied to the worker at once. */
const partLength = 4_000_000

/** Calls to the worker, by name of the method. */
export type JsonCall = {
  [Name in Exclude<keyof JsonSource, "close">]: { name: Name; parameters: Parameters<JsonSource[Name]> }
}[Exclude<keyof JsonSource, "close">]

export type JsonRequest = { part: string } | ({ id: number } & JsonCall)
export type JsonReply = { id: number; value: unknown } | { id: number; error: string }

/** The first read fails with a `SyntaxError` when the text is not JSON, and with another error when nothing reads it. */
export function openJson(text: string): JsonSource {
  return text.length <= smallLength ? openHere(text) : openInWorker(text)
}

function openHere(text: string): JsonSource {
  let opened: JsonDocument | null = null
  const document = () => (opened ??= new JsonDocument(text))
  return {
    root: async () => document().root(),
    children: async (start, from, count) => document().children(start, from, count),
    textOf: async (start, end) => document().textOf(start, end),
    find: async (query, most) => document().find(query, most),
    wayTo: async (place) => document().wayTo(place),
    close: () => (opened = null),
  }
}

function openInWorker(text: string): JsonSource {
  const worker = new Worker(new URL("./json-worker.ts", import.meta.url), { type: "module" })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  worker.addEventListener("message", ({ data }: MessageEvent<JsonReply>) => {
    const call = waiting.get(data.id)
    waiting.delete(data.id)
    if ("error" in data) call?.reject(new SyntaxError(data.error))
    else call?.resolve(data.value)
  })
  let failure: Error | null = null
  // Its script did not load, or an error has ended it: there is no answer to come.
  worker.addEventListener("error", () => {
    failure = new Error("The part of the page that reads large values did not load or has failed; load the page again")
    for (const call of waiting.values()) call.reject(failure)
    waiting.clear()
  })
  let isClosed = false
  // In parts, with a turn for the page between them: to copy 50 MB at once holds it up for more than 100 ms.
  const sent = (async () => {
    for (let from = 0; from < text.length && !isClosed; from += partLength) {
      worker.postMessage({ part: text.slice(from, from + partLength) } satisfies JsonRequest)
      await new Promise((resolve) => setTimeout(resolve))
    }
  })()

  function ask<Name extends JsonCall["name"]>(
    name: Name,
    ...parameters: Parameters<JsonSource[Name]>
  ): ReturnType<JsonSource[Name]> {
    if (failure !== null) return Promise.reject(failure) as ReturnType<JsonSource[Name]>
    const call = Promise.withResolvers<unknown>()
    lastId += 1
    waiting.set(lastId, call)
    const request = { id: lastId, name, parameters }
    void sent.then(() => worker.postMessage(request))
    return call.promise as ReturnType<JsonSource[Name]>
  }
  return {
    root: () => ask("root"),
    children: (...parameters) => ask("children", ...parameters),
    textOf: (...parameters) => ask("textOf", ...parameters),
    find: (...parameters) => ask("find", ...parameters),
    wayTo: (...parameters) => ask("wayTo", ...parameters),
    close: () => {
      isClosed = true
      worker.terminate()
    },
  }
}
