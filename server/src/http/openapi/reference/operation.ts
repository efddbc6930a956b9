import type { ExampleNames, ExampleRequest } from "./example-names.ts"

/** Description of a route beyond its schemas. */
export interface Operation {
  /** More than the summary: what the answer holds, what to watch for. */
  description: string
  /** A request that is answered; a route that takes nothing has none. */
  example?: (names: ExampleNames) => ExampleRequest
}

/** By method and path of the route. */
export type Operations = Readonly<Record<string, Operation>>
