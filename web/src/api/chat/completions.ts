/** Chats that are recorded as calls: `/completions/create_stream`. */
import type { WireLine } from "../../playground/answer-collector.ts"
import { sendForLines } from "../client.ts"

/** The lines of one answer as they come. `body` is JSON text, so that its numbers stay as they were written. */
export async function* streamCompletion(body: string, signal: AbortSignal): AsyncGenerator<WireLine> {
  const request = { method: "POST", path: "/completions/create_stream", json: body, signal } as const
  for await (const line of sendForLines(request)) yield JSON.parse(line) as WireLine
}
