/** Names of settings, and those that were meant as one of them: a misspelled one would be as if nothing had been set. */
import leven from "leven"

const prefix = "HEDDLE_"

/** Without their prefix. Limits, which are a list of their own, are not here. */
export const settingNames = `HOST PORT DATA_DIR BACKUP_DIR PREFIX TRUSTED_PROXIES ADMIN_KEY ENTITY
  POSTGRES_URL CATALOG_TEMPLATE CLICKHOUSE_URL PRICES SECRETS LOG REQUEST_LOG METRICS MAX_BODY_BYTES FETCH_ALLOW BASE_MODELS
  ENGINE PYTHON SAMPLER VLLM_PYTHON VLLM_LORA_RANK
  ENGINE_DTYPE ENGINE_KV_BYTES ENGINE_CACHE_BYTES ENGINE_ADAPTER_BYTES ENGINE_UNLOAD_IDLE_S ENGINE_TRAINERS
  ENGINE_URLS ENGINE_TOKEN_FILE ENGINE_CA_FILE ENGINE_FAILOVER_S`.split(/\s+/)

/**
 * Other names may be somebody else's: of clients, of tests, and those that Kubernetes sets beside a service called heddle.
 * @throws {Error} with a sentence for the operator where a variable is spelled almost as a setting.
 */
export function refuseMisspelled(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(prefix) || value === "") continue
    const meant = settingMeantBy(name.slice(prefix.length))
    if (meant !== null) throw new Error(`there is no setting called ${name}: did you mean ${prefix}${meant}?`)
  }
}

function settingMeantBy(name: string): string | null {
  if (settingNames.includes(name)) return null
  return settingNames.find((setting) => leven(name, setting) <= (setting.length < 6 ? 1 : 2)) ?? null
}
