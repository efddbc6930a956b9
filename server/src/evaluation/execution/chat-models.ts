/** Who serves models to the evaluation store: a port, so that this area need not know the serving one. */
import type { Principal } from "../../http/principal.ts"

export interface ChatRequest {
  requestId: string
  principal: Principal
  /** `entity/project` that it is counted for. */
  project: string
  /** A chat request of OpenAI's API, not checked yet. */
  body: object
  /** The same with its numbers as they were spelled. */
  exactBody: object
}

/** A chat that was admitted; it runs when one of the two is begun. */
export interface AdmittedChat {
  /** A chat completion as JSON text. @throws {HeddleError} `ModelFailure` */
  complete: (signal: AbortSignal) => Promise<string>
  /** Chunks of it as JSON texts, a batch at a time; one of the last has the usage. @throws {HeddleError} `ModelFailure` */
  stream: (signal: AbortSignal) => AsyncGenerator<string[]>
  /** Needed only when neither is begun. Repeatable. */
  release: () => Promise<void>
}

export interface ChatModels {
  /** @throws {HeddleError} for what is wrong before anything is sampled. */
  admit: (request: ChatRequest) => Promise<AdmittedChat>
}
