/** A fault in a captured call of the policy; `path` leads to it from the exchange. */
export type FaultPath = readonly (string | number)[]

export class ExchangeFault extends Error {
  override readonly name = "ExchangeFault"
  readonly path: FaultPath

  constructor(path: FaultPath, message: string) {
    super(message)
    this.path = path
  }
}
