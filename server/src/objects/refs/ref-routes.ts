/** `/refs/read_batch`: evaluation-store-objects 9. */
import { HeddleError } from "../../errors.ts"
import { type Route, route } from "../../http/route.ts"
import { refsRead, refsReadBody } from "../../wire/objects/ref.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { jsonDocument, sendStream } from "../../http/answers/json-stream.ts"
import { readRefs } from "./ref-values.ts"
import { parseRef, type Ref } from "./refs.ts"

const maximumRefs = 1000

export function refRoutes(dependencies: StoreDependencies): Route[] {
  return [
    route({
      method: "POST",
      dialect: "reason",
      tag: "Refs",
      path: "/refs/read_batch",
      access: { right: "read", of: "refs body.refs[]" },
      summary: "Read the values, or the parts of them, that refs name",
      schemas: { body: refsReadBody },
      response: refsRead,
      handle: async ({ body, principal, reply }) => {
        if (body.refs.length > maximumRefs) {
          throw new HeddleError(
            "value_error",
            `Too many refs: ${body.refs.length}; read at most ${maximumRefs} at once`,
          )
        }
        const values = await readRefs(dependencies, principal, body.refs.map(readableRef))
        return sendStream(reply, "application/json; charset=utf-8", jsonDocument("vals", oneByOne(values)))
      },
    }),
  ]
}

/** Each of them may have megabytes. */
async function* oneByOne(values: readonly (string | null)[]): AsyncGenerator<string[]> {
  for (const value of values) yield [value ?? "null"]
}

function readableRef(text: string): Ref {
  const ref = parseRef(text)
  if (ref.kind === "object" || ref.kind === "op") return ref
  const way = ref.kind === "call" ? "read calls with /calls/stream_query" : "read tables with /table/query"
  throw new HeddleError("value_error", `"${text}" is a ${ref.kind} ref, not one of an object or op; ${way}`)
}
