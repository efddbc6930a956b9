/** Reads a large JSON document beside the page. */
import { JsonDocument } from "./json-document.ts"
import type { JsonCall, JsonReply, JsonRequest } from "./json-source.ts"

/** Until something is asked of it. */
let parts: string[] = []
let opened: JsonDocument | null = null

self.addEventListener("message", ({ data }: MessageEvent<JsonRequest>) => {
  if ("part" in data) {
    parts.push(data.part)
    return
  }
  try {
    reply({ id: data.id, value: answer(data) })
  } catch (error) {
    reply({ id: data.id, error: (error as Error).message })
  }
})

function answer(call: JsonCall): unknown {
  const document = (opened ??= new JsonDocument(whole()))
  switch (call.name) {
    case "root":
      return document.root()
    case "children":
      return document.children(...call.parameters)
    case "textOf":
      return document.textOf(...call.parameters)
    case "find":
      return document.find(...call.parameters)
    case "wayTo":
      return document.wayTo(...call.parameters)
  }
}

function whole(): string {
  const text = parts.join("")
  parts = []
  return text
}

function reply(message: JsonReply): void {
  self.postMessage(message)
}
