/** Reads `GET /metrics`: figures by name and labels. */
import type { Caller } from "./test-app.ts"

export async function readMetrics(admin: Pick<Caller, "get">): Promise<Map<string, number>> {
  const { status, body } = await admin.get("/metrics")
  if (status !== 200) throw new Error(`no metrics: ${status}`)
  const lines = (body as string).split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(" ")
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}

/** Names of the gauges of running and waiting work that are not 0. */
export async function busyGauges(admin: Pick<Caller, "get">): Promise<string[]> {
  const gauges =
    /^heddle_(queue_running|queue_waiting|body_memory_bytes|bodies_waiting|requests_waiting|calls_waiting_bytes|chat_\w+)(\{|$)/
  return Array.from(await readMetrics(admin)).flatMap(([name, value]) =>
    gauges.test(name) && value !== 0 ? [name] : [],
  )
}
