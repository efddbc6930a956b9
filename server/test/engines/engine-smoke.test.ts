/**
 * The whole server with the real engine and the shipped model: sample, train, sample the new step (training-api 5.2).
 */
import { access } from "node:fs/promises"
import path from "node:path"
import { expect, test } from "vitest"
import { engineEnvironment } from "../../src/engine-environment.ts"
import type { EngineFailure } from "../../src/engines/engine.ts"
import { SupervisedEngine } from "../../src/engines/engine-process.ts"
import { pythonLauncher } from "../../src/engines/python-process.ts"

const repository = path.resolve(import.meta.dirname, "../../..")
const python = path.join(repository, "engine/.venv/bin/python")
const base = { name: "heddle/tiny", path: path.join(repository, "engine/models/heddle-tiny") }

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

// Skipped in a bare checkout, which lacks the engine's virtual environment.
test.skipIf(!(await isThere(python)))(
  "the Python engine speaks the protocol: hello, chat, errors, cancel, close",
  async () => {
    const engine = new SupervisedEngine({
      launch: pythonLauncher(python, engineEnvironment(process.env)),
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    })
    try {
      await engine.ready(60_000)
      expect(engine.status().hello).toMatchObject({ protocol: 1 })
      const messages = [{ role: "user", content: "3 + 4 = ?" }]
      const call = engine.call("chat", {
        base,
        adapter: null,
        messages,
        n: 2,
        stream: true,
        sampling: { max_tokens: 4, seed: "1" },
      })
      const tokens = [0, 0]
      const seen = new Set<string>()
      for await (const batch of call.events) {
        for (const event of batch) {
          seen.add(event.event)
          if (event.event === "delta")
            tokens[event.data.index] = (tokens[event.data.index] ?? 0) + event.data.tokens.length
        }
      }
      const result = await call.result
      expect([...seen]).toEqual(["start", "delta"])
      expect((tokens[0] ?? 0) + (tokens[1] ?? 0)).toBe(result.completion_tokens)

      const missing = engine.call("base.resolve", { base: { name: "x", path: "/does/not/exist" } }).result
      await expect(missing).rejects.toMatchObject({ kind: "not_found" } satisfies Partial<EngineFailure>)

      const controller = new AbortController()
      const long = engine.call(
        "chat",
        { base, adapter: null, messages, n: 8, sampling: { max_tokens: 1500, ignore_eos: true } },
        controller.signal,
      )
      setTimeout(() => controller.abort(), 50)
      await expect(long.result).rejects.toMatchObject({ kind: "cancelled" })
    } finally {
      await engine.close()
    }
    expect(engine.status().state).toBe("closed")
  },
  120_000,
)
