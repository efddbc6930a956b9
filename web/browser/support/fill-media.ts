/** Pictures, sounds and files as the Weave SDK stores them: the bytes as files, and in payloads what names them. */
import { randomUUID } from "node:crypto"
import type { Heddle } from "./heddle.ts"

/** Stores a file of a project as the SDK uploads it; returns its digest. */
export async function storeFile(heddle: Heddle, project: string, bytes: string | Buffer): Promise<string> {
  const form = new FormData()
  form.set("project_id", project)
  form.set("file", new Blob([bytes as never]), "file")
  const headers = { authorization: `Bearer ${heddle.key}` }
  const answer = await fetch(`${heddle.url}/file/create`, { method: "POST", headers, body: form })
  return ((await answer.json()) as { digest: string }).digest
}

/** A value of one of the SDK's own types; `files`: digests by name. */
export const customValue = (project: string, type: string, files: object) => ({
  _type: "CustomWeaveType",
  weave_type: { type },
  files,
  load_op: `weave:///${project}/op/load:v0`,
})

/** `weave.Content`: the bytes, and what is known of them. */
export async function contentValue(
  heddle: Heddle,
  project: string,
  { bytes, mimetype, filename }: { bytes: string | Buffer; mimetype: string; filename: string },
) {
  const metadata = JSON.stringify({ id: randomUUID(), size: bytes.length, mimetype, filename, digest: "…" })
  return customValue(project, "weave.type_wrappers.Content.content.Content", {
    content: await storeFile(heddle, project, bytes),
    "metadata.json": await storeFile(heddle, project, metadata),
  })
}

/** A sound, as Python's `wave` reads it. */
export async function soundValue(heddle: Heddle, project: string, wav: Buffer) {
  return customValue(project, "wave.Wave_read", {
    "_metadata.json": await storeFile(heddle, project, "{}"),
    "audio.wav": await storeFile(heddle, project, wav),
  })
}

/** A tone of so many seconds in 8 bits. */
export function wavOf(seconds: number): Buffer {
  const rate = 8000
  const samples = Buffer.from(Array.from({ length: rate * seconds }, (_, at) => 128 + 90 * Math.sin(at / 3)))
  const head = Buffer.concat([Buffer.from("RIFF    WAVEfmt "), Buffer.alloc(28)])
  head.writeUInt32LE(36 + samples.length, 4)
  for (const [at, value] of [16, 0x10001, rate, rate, 0x80001, 0x61746164].entries())
    head.writeUInt32LE(value, 16 + at * 4)
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}
