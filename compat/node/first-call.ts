/**
 * Sends one call with an unmodified client, for tests that wait for it.
 * Usage: node first-call.ts openai|weave SERVER KEY TEAM/PROJECT
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const [client = "", url = "", key = "", project = ""] = process.argv.slice(2)

const calls: Record<string, () => Promise<void>> = {
  openai: async () => {
    const { default: OpenAI } = await import("openai")
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, defaultHeaders: { "OpenAI-Project": project } })
    await openai.chat.completions.create({ model: "heddle/tiny", messages: [{ role: "user", content: "4+5=" }] })
  },
  weave: async () => {
    const home = mkdtempSync(join(tmpdir(), "heddle-first-call-"))
    process.once("exit", () => rmSync(home, { recursive: true, force: true }))
    Object.assign(process.env, { WF_TRACE_SERVER_URL: url, WANDB_BASE_URL: url, WANDB_API_KEY: key, HOME: home })
    const weave = await import("weave")
    const opened = await weave.init(project, { printCallLink: false })
    const answer = weave.op(async function answer(question: string) {
      return `${question} 42`
    })
    await answer("How many?")
    await opened.waitForBatchProcessing()
  },
}

const call = calls[client]
if (call === undefined) throw new Error(`choose one of ${Object.keys(calls).join(", ")}, not "${client}"`)
await call()
