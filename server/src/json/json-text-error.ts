/** Reasons why a text is no JSON for us, however it is read. */

export type JsonTextErrorKind = "syntax" | "too_deep" | "too_many"

/** The text is not JSON, its containers are nested too deep, or it has too many values. */
export class JsonTextError extends Error {
  override readonly name = "JsonTextError"
  readonly kind: JsonTextErrorKind

  constructor(kind: JsonTextErrorKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** Containers within containers; deeper text is refused before it costs anything. */
export const maximumJsonDepth = 200
