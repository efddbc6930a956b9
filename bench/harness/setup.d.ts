/** The parts of the set-up scripts, which are plain JavaScript, that the benchmarks call. */
declare module "*/scripts/setup/python.mjs" {
  /** Returns the Python of the environment. */
  export function ensureLocked(name: string, title: string, lock: string): Promise<string>
}
declare module "*/scripts/setup/engine.mjs" {
  /** Returns the Python of the engine's environment. */
  export function ensureEngine(options?: { tests?: boolean }): Promise<string>
}
declare module "*/scripts/setup/node-modules.mjs" {
  export const projectNode: string
}
declare module "*/scripts/setup/server-flags.mjs" {
  export const serverFlags: readonly string[]
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
declare module "*/scripts/setup/stamp.mjs" {
  export function digest(...texts: string[]): string
  export function readStamp(path: string): string | null
  export function writeStamp(path: string, value: string): void
}
