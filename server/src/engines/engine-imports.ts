/** Has the engine check an adapter that was trained elsewhere. */
import { type Engine, EngineFailure, engineStartMs, type EngineParams, type EngineResult } from "./engine.ts"
import { toTransferError } from "./engine-transfers.ts"

type AdapterImport = EngineParams<"adapter.import">

/** @throws {HeddleError} */
export async function importAdapter(engine: Engine, params: AdapterImport): Promise<EngineResult<"adapter.import">> {
  try {
    await engine.ready(engineStartMs)
    return await engine.call("adapter.import", params).result
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error
    throw toTransferError(error, "the import")
  }
}
