/** Measures how long one request stops the server's event loop, and its memory, for requests made to take longest. */
import { type HostileRequest, largestBodyBytes, sendHostile } from "../server/test/support/hostile-request.ts"
import { hostileRequests } from "../server/test/support/hostile-requests.ts"
import { startWatchedServer, type WatchedServer } from "../server/test/support/watched-server.ts"
import { progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Size of the largest bodies, in MiB. */
  mebibytes: { type: "string", default: "32" },
  /** Only requests whose names contain this. */
  only: { type: "string", default: "" },
} as const

const mebibyte = 1024 * 1024

interface Stall {
  name: string
  status: number
  seconds: number
  stallMs: number
  workMs: number
  peakMebibytes: number
}

export async function run(given: Options): Promise<Findings> {
  const mebibytes = count(given, "mebibytes")
  const only = String(given["only"])
  const server = await startWatchedServer(temporaryFolder())
  const stalls: Stall[] = []
  try {
    for (const request of hostileRequests.filter(({ name }) => name.includes(only))) {
      const bytes = Math.min(mebibytes * mebibyte, request.largestBytes ?? largestBodyBytes)
      const one = await measure(server, request, bytes)
      progress(
        `${one.name}: ${one.status}, ${one.stallMs.toFixed(0)} ms (${one.workMs.toFixed(0)} ms of work), ${one.peakMebibytes.toFixed(0)} MiB`,
      )
      stalls.push(one)
    }
  } finally {
    await server.close()
  }
  const worst = (name: "stallMs" | "workMs" | "peakMebibytes") => Math.max(...stalls.map((one) => one[name]))
  return {
    method: [
      "One server that has stored nothing, one request at a time, of the largest body of its kind (32 MiB for most). A monitor in the server's own process tells the longest time between two turns of its event loop.",
      "Work: processor time that the event loop's thread used in its longest turn, which other programs on the machine do not change.",
    ],
    versions: {},
    settings: { mebibytes },
    measurements: [
      ...stalls.map((one) => measurement(`${one.name} (${one.status})`, "ms", [one.stallMs])),
      measurement("longest turn of the event loop, work", "ms", [worst("workMs")]),
      measurement("longest request", "s", [Math.max(...stalls.map(({ seconds }) => seconds))]),
      measurement("most resident memory", "MiB", [worst("peakMebibytes")]),
    ],
    bars: [atMost("longest stall under any one request", 200, worst("stallMs"), "ms")],
    caveats: [],
  }
}

async function measure(server: WatchedServer, request: HostileRequest, bytes: number): Promise<Stall> {
  await server.read()
  const began = performance.now()
  const { status, text } = await sendHostile(server, request, bytes)
  const seconds = (performance.now() - began) / 1000
  if (!request.statuses.includes(status)) progress(`${request.name}: answered with ${status}: ${text.slice(0, 500)}`)
  const { longestStallMs, longestWorkMs, peakBytes } = await server.read()
  return {
    name: request.name,
    status,
    seconds,
    stallMs: longestStallMs,
    workMs: longestWorkMs,
    peakMebibytes: peakBytes / mebibyte,
  }
}
