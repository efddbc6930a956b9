/**
 * A tool is data, as a route is: what a client is told of it, which right it needs, and one function that asks the API. What it
 * takes and gives is no body of a request, so its schemas stand with it and carry the words that a model reads.
 */
import { z } from "zod"
import type { RouteAccess } from "../wire/platform/access.ts"
import type { Api } from "./api.ts"

export interface Tool<I extends z.ZodObject = z.ZodObject> {
  name: string
  title: string
  /** For a model: what it is for, and what to call before or after it. */
  description: string
  access: RouteAccess
  /** Ends what cannot be begun again. */
  isDestructive?: true
  /** Called again with the same arguments it does the same again, or nothing more. By default as it only reads. */
  isRepeatable?: boolean
  input: I
  output: z.ZodObject
  run: (input: z.output<I>, api: Api) => Promise<object>
}

/** Keeps the types of the input for `run`; returns its argument. */
export function tool<I extends z.ZodObject>(definition: Tool<I>): Tool {
  return definition
}

/** What a model reads in place of a result: it names the bad value and the way out. */
export class ToolError extends Error {
  override readonly name = "ToolError"
  /** What the API answered; null: the error is not one of its answers. */
  readonly status: number | null

  constructor(message: string, status: number | null = null) {
    super(message)
    this.status = status
  }
}

export const projectField = z
  .string()
  .describe("The project, written entity/project. list_projects names those that the key may read.")

/** Why a value is not all there, and where the rest is. */
export const shortenedNote = z
  .string()
  .nullable()
  .describe("Not null: something was shortened to keep the answer small. It says how to read the rest.")
