/**
 * Makes base models for attacks, which are copies of the shipped one with hostile chat templates, and a silent model
 * hub.
 */
import { cp, writeFile } from "node:fs/promises"
import { createServer, type Socket } from "node:net"
import path from "node:path"

const shipped = path.resolve(import.meta.dirname, "../../../../engine/models/heddle-tiny")

const templates = {
  loops: "{% for i in range(3000) %}{% for j in range(5000) %}{% endfor %}{% endfor %}x",
  endless: `${"{% for i in range(99999) %}".repeat(3)}${"{% endfor %}".repeat(3)}x`,
  "long-text": "{{ 'a' * 10 ** 8 }}",
} as const

export type HostileTemplate = keyof typeof templates

export const hostileBase = (bases: string, name: HostileTemplate) => path.join(bases, name)

/** Names of base models that no hub has. */
export const absentBases = Array.from({ length: 8 }, (_, n) => `attacks/absent-${n}`)

/** Makes the base models; returns the setting that lets members use them. */
export async function makeHostileBases(bases: string): Promise<{ HEDDLE_BASE_MODELS: string }> {
  const names = Object.keys(templates) as HostileTemplate[]
  for (const name of names) {
    await cp(shipped, hostileBase(bases, name), { recursive: true })
    await writeFile(path.join(hostileBase(bases, name), "chat_template.jinja"), templates[name])
  }
  return { HEDDLE_BASE_MODELS: [...names.map((name) => hostileBase(bases, name)), ...absentBases].join(",") }
}

export interface SilentHub extends AsyncDisposable {
  env: { HF_ENDPOINT: string }
}

/** A model hub that takes connections and never answers. */
export async function openSilentHub(): Promise<SilentHub> {
  const sockets = new Set<Socket>()
  const hub = createServer((socket) => void sockets.add(socket.on("error", () => undefined).resume()))
  await new Promise<void>((resolve) => hub.listen(0, "127.0.0.1", resolve))
  const address = hub.address()
  if (address === null || typeof address === "string") throw new Error("the hub has no port")
  return {
    env: { HF_ENDPOINT: `http://127.0.0.1:${address.port}` },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        hub.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
