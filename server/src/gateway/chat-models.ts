/** Chats that the server itself makes, with its own models or with those of a provider. */
import type { Caller } from "./attribution.ts"

export interface ChatRequest {
  requestId: string
  caller: Caller
  /** `entity/project` that it is counted for. */
  project: string
  /** A chat request of OpenAI's API, not checked yet. */
  body: object
  /** The same with its numbers as they were spelled. */
  exactBody: object
}

/** An answer, as it is passed on and as it is read. */
export interface ChatAnswer {
  /** A chat completion as JSON text. */
  text: string
  /** The text of its first choice; null: it has none. */
  content: string | null
  /** JSON text; null: not told. */
  usage: string | null
}

/** A chunk of a streamed answer, as it is passed on and as it is read. */
export interface SentChunk {
  /** JSON. */
  text: string
  value: unknown
}

/** A chat that was admitted; it runs when one of the two is begun. */
export interface AdmittedChat {
  /** @throws {HeddleError} `ModelFailure` */
  complete: (signal: AbortSignal) => Promise<ChatAnswer>
  /** A batch at a time; one of the last has the usage. @throws {HeddleError} `ModelFailure` */
  stream: (signal: AbortSignal) => AsyncGenerator<SentChunk[]>
  /** Needed only when neither is begun. Repeatable. */
  release: () => Promise<void>
}

export interface ChatModels {
  /** @throws {HeddleError} for what is wrong before anything is sampled. */
  admit: (request: ChatRequest) => Promise<AdmittedChat>
}
