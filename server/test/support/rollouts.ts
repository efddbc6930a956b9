/** Sends calls with headers, and reads the rollouts that they name. */
import { expect } from "vitest"
import type { z } from "zod"
import type { rollout, rolloutTurn, readRollout } from "../../src/wire/training/rollout.ts"
import type { App } from "../../src/app.ts"
import type { Caller } from "./test-app.ts"

export type Rollout = z.infer<typeof rollout>
export type ReadRollout = z.infer<typeof readRollout>
export type Turn = z.infer<typeof rolloutTurn>

export interface Asked {
  status: number
  text: string
  body: unknown
}

/** Sends a request as a client does that knows only a base URL and a header. */
export async function ask(
  app: App,
  caller: Caller,
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Asked> {
  const {
    statusCode,
    payload,
    headers: answered,
  } = await app.server.inject({
    method: "POST",
    url,
    headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json", ...headers },
    payload: JSON.stringify(body),
  })
  const isJson = String(answered["content-type"]).includes("application/json")
  return { status: statusCode, text: payload, body: isJson ? JSON.parse(payload) : payload }
}

export const inRollout = (id: string, group?: string): Record<string, string> => ({
  "x-heddle-rollout-id": id,
  ...(group !== undefined && { "x-heddle-rollout-group": group }),
})

export async function read(caller: Caller, id: string, query = ""): Promise<ReadRollout> {
  const { status, body } = await caller.get(`/v1/rollouts/${encodeURIComponent(id)}${query}`)
  expect([status, body]).toEqual([200, expect.anything()])
  return body as ReadRollout
}

export async function turnsOf(caller: Caller, id: string, query = "?tokens=true"): Promise<Turn[]> {
  const { status, body } = await caller.get(`/v1/rollouts/${encodeURIComponent(id)}/turns${query}`)
  expect([status, body]).toEqual([200, expect.anything()])
  return (body as { data: Turn[] }).data
}

export const issueCodes = ({ issues }: { issues: { code: string }[] }) => issues.map(({ code }) => code)
