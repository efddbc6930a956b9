/** The journal of calls that came, on a disk that has no room for a while. */
import { randomUUID } from "node:crypto"
import { afterAll, expect, test } from "vitest"
import { fillDisk, mountDisk, unmountDisk } from "../../test/support/small-disk.ts"
import { ArrivedCalls } from "./arrived-calls.ts"
import { CallBatchBuilder } from "./traces/calls/insert/call-batch.ts"

const disk = mountDisk(32)
afterAll(() => {
  if (disk !== null) unmountDisk(disk)
})

const project = randomUUID()

function starts(...ids: string[]) {
  const rows = new CallBatchBuilder(64 * ids.length)
  for (const id of ids)
    rows.add({ projectId: project, id }, { trace_id: "t", started_at: "2026-01-02 03:04:05.000001" })
  return [rows.batch()]
}

async function read(journal: ArrivedCalls): Promise<string[]> {
  const ids: string[] = []
  for (let position = journal.start; ;) {
    const { calls, next } = await journal.read(position)
    if (next === position) return ids
    expect(calls.every(({ projectId, at }) => projectId === project && at > 1e12)).toBe(true)
    ids.push(...calls.map(({ callId }) => callId))
    position = next
  }
}

test.skipIf(disk === null)(
  "lines that found no room and became too many do not damage those that come later",
  async () => {
    const journal = await ArrivedCalls.open(disk as string, { error: () => undefined })
    journal.watch(new Set([project]))
    journal.note(starts("first"))
    const makeRoom = await fillDisk(disk as string, 4096)
    // About 10 MB of lines, of which 4096 bytes find room: the last of those is half a line.
    const lost = Array.from({ length: 100_000 }, () => randomUUID())
    journal.note(starts(...lost))
    journal.note(starts("kept"))
    await makeRoom()
    journal.note(starts("later"))
    const ids = await read(journal)
    expect([ids[0], ...ids.slice(-2)]).toEqual(["first", "kept", "later"])
    expect(ids.slice(1, -2)).toEqual(lost.slice(0, ids.length - 3))
    expect(ids.length).toBeLessThan(100)
    journal.close()
  },
)
