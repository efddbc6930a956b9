/** A start without the trace store that the data folder was used with. */
import { mkdir, rename, rm } from "node:fs/promises"
import path from "node:path"
import { expect, test } from "vitest"
import { createApp } from "../../src/app.ts"
import { callerOf, openTestApp } from "../support/test-app.ts"

test("a folder that was in use begins an empty trace store only when one asks for it", async () => {
  const { app, config, acme } = await openTestApp({ clickhouseUrl: null })
  const traces = path.join(config.dataDir, "traces")
  const start = {
    project_id: "acme/kept",
    op_name: "kept",
    started_at: "2026-01-01T00:00:00Z",
    attributes: {},
    inputs: {},
  }
  const { body } = await acme.post("/call/start", { start })
  const read = { project_id: "acme/kept", id: (body as { id: string }).id }
  const readOnceStarted = async () => {
    const started = await createApp(config)
    const answer = await callerOf(() => started, acme.key, "acme").post("/call/read", read)
    await started.close()
    return answer.body
  }
  await app.close()

  await rename(traces, `${traces}-away`)
  for (let round = 0; round < 2; round += 1) {
    await expect(createApp(config)).rejects.toThrow(
      `the data folder ${config.dataDir} was in use, and has no folder traces. If they are in a ClickHouse server, set ` +
        "HEDDLE_CLICKHOUSE_URL",
    )
  }
  await mkdir(traces)
  expect(await readOnceStarted()).toEqual({ call: null })

  await rm(traces, { recursive: true })
  await rename(`${traces}-away`, traces)
  expect(await readOnceStarted()).toMatchObject({ call: { op_name: "kept" } })
  await rm(config.dataDir, { recursive: true })
})
