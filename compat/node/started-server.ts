/** Starts the real server, with its real engine, once for all test files (a vitest global set-up). */
import type { TestProject } from "vitest/node"
import { ServerProcess, type StartedServer } from "./server-process.ts"

declare module "vitest" {
  interface ProvidedContext {
    server: StartedServer
  }
}

export default async function startServer(project: TestProject): Promise<() => Promise<void>> {
  const server = new ServerProcess()
  try {
    project.provide("server", await server.start())
  } catch (error) {
    await server.close()
    throw error
  }
  return () => server.close()
}
