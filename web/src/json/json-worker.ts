/** Reads a large JSON document beside the page. */
import { JsonDocument } from "./json-document.ts"
import type { JsonCall, JsonReply, JsonRequest } from "./json-source.ts"

let text = ""
let opened: JsonDocument | null = null

self.addEventListener("message", ({ data }: MessageEvent<JsonRequest>) => {
  if ("open" in data) {
    text = new TextDecoder().decode(data.open)
    return
  }
  try {
    reply({ id: data.id, value: answer(data) })
  } catch (error) {
    reply({ id: data.id, error: (error as Error).message })
  }
})

function answer(call: JsonCall): unknown {
  const document = (opened ??= new JsonDocument(text))
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

function reply(message: JsonReply): void {
  self.postMessage(message)
}
