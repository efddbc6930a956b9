/**
 * The trace store seam: ClickHouse inside the process (chDB) behind the same client that talks to
 * a ClickHouse server.
 */
import { type ClickHouseClient, type ClickHouseClientConfigOptions, createClient } from "@clickhouse/client"
import { mkdir } from "node:fs/promises"

export type TraceStore = ClickHouseClient

/** Opens the store in `folder`. Close it with `close()`. */
export async function openTraces(folder: string): Promise<TraceStore> {
  await mkdir(folder, { recursive: true })
  const createChdbConnection = await loadChdb()
  // The client and chDB each declare this interface, alike but for a private field.
  const connection = createChdbConnection({ path: folder }) as unknown as NonNullable<
    ClickHouseClientConfigOptions["connection"]
  >
  const client = createClient({ connection })
  await client.ping({ select: true })
  return client
}

/** Loaded only when a store is opened: the native library is large and exists for few platforms. */
async function loadChdb() {
  try {
    const { createChdbConnection } = await import("chdb/connection")
    return createChdbConnection
  } catch (cause) {
    throw new Error(
      `the embedded trace store (chDB) cannot be loaded on ${process.platform}-${process.arch}. ` +
        "It runs on Linux with glibc and on macOS, each on x64 and arm64; on Windows use WSL 2",
      { cause },
    )
  }
}
