/** The engines on other machines that the settings name, as one. */
import { readFile } from "node:fs/promises"
import type { EngineAddress } from "../remote/engine-address.ts"
import { RemoteEngine, type RemoteEngineOptions } from "../remote/remote-engine.ts"
import { EnginePool } from "./engine-pool.ts"

export interface RemoteEngineSettings {
  addresses: readonly EngineAddress[]
  tokenFile: string
  /** Certificates of the authority that signed the engines'; null: one that the system trusts. */
  caFile: string | null
  /** How long an engine must be away before its jobs begin again on another. */
  failOverMs: number
}

/** @throws {Error} with a sentence for the operator. */
export async function openEnginePool(
  { addresses, tokenFile, caFile, failOverMs }: RemoteEngineSettings,
  others: Pick<RemoteEngineOptions, "shippedBases" | "log">,
): Promise<EnginePool> {
  const token = (await readSetting("HEDDLE_ENGINE_TOKEN_FILE", tokenFile)).trim()
  if (token === "") throw new Error(`HEDDLE_ENGINE_TOKEN_FILE: ${tokenFile} is empty`)
  const ca = caFile === null ? null : await readSetting("HEDDLE_ENGINE_CA_FILE", caFile)
  const engines = addresses.map((address) => ({
    name: address.url,
    engine: new RemoteEngine({ address, token, ca, ...others }),
  }))
  return new EnginePool({ engines, failOverMs })
}

async function readSetting(name: string, file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: Error) => {
    throw new Error(`${name}: ${cause.message}`, { cause })
  })
}
