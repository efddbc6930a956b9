/** Takes one file out of a `multipart/form-data` body and hands its content on as it comes. */
import { Busboy } from "@fastify/busboy"
import type { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import { HeddleError, invalid } from "../../errors.ts"
import type { HeldBody } from "./body-budget.ts"
import { bodyStream } from "./body-stream.ts"

export interface FileKeeper<T> {
  store: (content: Readable) => Promise<T>
  /** The rest of the request turned out to be bad. */
  discard: (stored: T) => Promise<void>
}

export interface Upload<T> {
  /** The keeper's result for the file's content. */
  stored: T
  filename: string
  fields: ReadonlyMap<string, string>
}

interface FilePart<T> {
  content: Readable
  filename: string
  stored: Promise<T>
}

const limits = { files: 1, fields: 20, fieldSize: 64 * 1024, parts: 30 }

/**
 * Reads the part named `file`, giving its content to `keeper`; other parts become `fields`, which are counted in `held`.
 * @throws {HeddleError} 415 another content type; 422 no such part; 400 a broken body; 413 too large, or more parts than a form may have; 503 no room for the fields.
 */
export async function readUpload<T>(
  request: IncomingMessage,
  { maximumBytes, held }: { maximumBytes: number; held: HeldBody },
  keeper: FileKeeper<T>,
): Promise<Upload<T>> {
  const parser = openParser(request)
  const fields = new Map<string, string>()
  const parts: FilePart<T>[] = []
  const end = Promise.withResolvers<void>()
  let fieldBytes = 0
  parser.on("field", (name, value) => {
    fields.set(name, value)
    fieldBytes += name.length + value.length
  })
  parser.on("file", (name, content, filename) => {
    // The reader of a part reports its errors. Busboy also emits an error for a truncated body when nobody reads the
    // part, and an error event without a listener would end the process.
    content.on("error", () => undefined)
    if (name !== "file") return void content.resume()
    const stored = keeper.store(content)
    stored.catch(end.reject)
    parts.push({ content, filename, stored })
  })
  // Busboy would read on and drop what is over the limit, whose length its sender chooses.
  for (const event of ["fieldsLimit", "partsLimit"]) parser.once(event, () => end.reject(tooManyParts()))
  parser.on("error", (cause: Error) => end.reject(unreadable(cause)))
  parser.once("finish", end.resolve)
  const counted = async function* () {
    for await (const bytes of bodyStream(request, maximumBytes)) {
      await held.atLeast(fieldBytes)
      yield bytes
    }
  }
  const body = Readable.from(counted())
  body.once("error", end.reject).pipe(parser)
  try {
    await end.promise
    const [part] = parts
    if (part === undefined) throw invalid(["body", "file"], "Field required", "missing")
    return { stored: await part.stored, filename: part.filename, fields }
  } catch (error) {
    body.destroy()
    await Promise.all(parts.map((part) => giveUp(part, keeper, error as Error)))
    throw error
  }
}

async function giveUp<T>(part: FilePart<T>, keeper: FileKeeper<T>, reason: Error): Promise<void> {
  part.content.destroy(reason)
  await part.stored.then(keeper.discard, () => undefined)
}

function openParser(request: IncomingMessage): InstanceType<typeof Busboy> {
  const contentType = request.headers["content-type"] ?? ""
  if (!/^multipart\/form-data\b/i.test(contentType)) {
    throw new HeddleError("unsupported_media_type", `send the file as multipart/form-data, not "${contentType}"`)
  }
  try {
    return new Busboy({ headers: { "content-type": contentType }, limits })
  } catch (cause) {
    throw unreadable(cause as Error)
  }
}

const tooManyParts = () =>
  new HeddleError(
    "payload_too_large",
    `the form has more parts than it may have: send the file, and at most ${limits.fields} fields beside it`,
  )

function unreadable(cause: Error): HeddleError {
  return new HeddleError("bad_request", `the multipart body cannot be read: ${cause.message}`, { cause })
}
