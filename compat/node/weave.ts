/** Points the npm weave client at the started server. */
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as weave from "weave"
import type { StartedServer } from "./server-process.ts"

export type WeaveClient = Awaited<ReturnType<typeof weave.init>>
export type Call = Awaited<ReturnType<WeaveClient["getCall"]>>

/** Sets the variables that a user would export, and a home folder for the file that `login` writes. */
export function useServer({ url, key }: StartedServer): void {
  process.env["WF_TRACE_SERVER_URL"] = url
  process.env["WANDB_BASE_URL"] = url
  process.env["WANDB_API_KEY"] = key
  process.env["WEAVE_PRINT_CALL_LINK"] = "false"
  const home = mkdtempSync(join(tmpdir(), "heddle-compat-home-"))
  process.env["HOME"] = home
  process.once("exit", () => rmSync(home, { recursive: true, force: true }))
}

/** A client for a project that no other test uses. */
export async function newProject(): Promise<WeaveClient> {
  return weave.init(`local/n-${randomBytes(5).toString("hex")}`, { printCallLink: false })
}

/** All calls of the project, after the client has sent everything. */
export async function stored(client: WeaveClient): Promise<Call[]> {
  await client.waitForBatchProcessing()
  return client.getCalls()
}

/** The short name of the call's op: `add` of `weave:///local/p/op/add:digest`. */
export function opName(call: Call): string {
  return call.op_name.split("/").at(-1)?.split(":")[0] ?? ""
}

export function named(calls: readonly Call[], name: string): Call[] {
  return calls.filter((call) => opName(call) === name)
}
