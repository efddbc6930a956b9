/** Types of the functions that benchmarks call in the set-up scripts, which are plain JavaScript. */
declare module "*/scripts/setup/python.mjs" {
  /** Returns the Python of the environment. */
  export function ensureLocked(name: string, title: string, lock: string): Promise<string>
}
declare module "*/scripts/setup/clients.mjs" {
  /** Returns the Python of the environment. */
  export function ensureClients(set: string): Promise<string>
}
declare module "*/scripts/setup/engine.mjs" {
  /** Returns the Python of the engine's environment. */
  export function ensureEngine(options?: { tests?: boolean }): Promise<string>
}
declare module "*/scripts/setup/vllm.mjs" {
  export const vllmLock: string
  /** Returns the Python of vLLM's environment. */
  export function ensureVllm(): Promise<string>
}
declare module "*/scripts/setup/node-modules.mjs" {
  export const projectNode: string
}
declare module "*/scripts/setup/server-flags.mjs" {
  export const serverFlags: readonly string[]
  export const serverEnvironment: Readonly<Record<string, string>>
}
declare module "*/scripts/setup/run.mjs" {
  export function runLogged(
    command: string,
    args: string[],
    options: { log: string; detail?: (line: string) => void },
  ): Promise<void>
}
declare module "*/scripts/setup/progress.mjs" {
  export function step<T>(title: string, work: (detail: (text: string) => void) => Promise<T>): Promise<T>
}
declare module "*/scripts/setup/chromium.mjs" {
  /** The path of the browser's program, or null when there is none and none can be installed. */
  export function ensureChromium(): Promise<string | null>
}
declare module "*/scripts/setup/web.mjs" {
  /** Builds the pages unless they are there already. */
  export function ensureWeb(): Promise<void>
}
declare module "*/scripts/setup/catalog.mjs" {
  /** The setting that names the template to the server; none where it cannot be made. */
  export function ensureCatalogTemplate(): Promise<{ HEDDLE_CATALOG_TEMPLATE?: string }>
}
