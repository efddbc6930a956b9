/** `GET /metrics`: how busy this server is, in the text that Prometheus reads. */
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client"
import type { BodyBudget } from "../http/bodies/body-budget.ts"
import type { RequestTurns } from "../http/requests/request-turns.ts"
import { type Route, route } from "../http/route.ts"
import type { FairQueue, FairQueueSnapshot } from "../work/fair-queue.ts"
import { addEngineMetrics, type EngineFigures } from "./engine-metrics.ts"
import { metricsText } from "../wire/platform/metrics.ts"

export interface MetricSources {
  queues: readonly FairQueue[]
  bodies: Pick<BodyBudget, "snapshot">
  requests: Pick<RequestTurns, "waiting">
  /** Chats in progress. */
  chats: () => Readonly<Record<"prompts" | "choices" | "tokens", number>>
  /** Bytes of calls that wait to be stored. */
  waitingCalls: () => number
  engines: () => EngineFigures[]
}

/** `isOpen`: for everybody who reaches the server; else for administrators. */
export function metricsRoutes(sources: MetricSources, isOpen: boolean): Route[] {
  const registry = Registry.merge([metricsOfProcess(), metricsOf(sources)])
  return [
    route({
      method: "GET",
      path: "/metrics",
      access: isOpen ? "public" : "admin",
      dialect: "reason",
      summary: "How busy the server is, for Prometheus",
      tag: "Service",
      schemas: {},
      response: metricsText,
      answerTypes: ["text/plain"],
      handle: async ({ reply }) => {
        reply.type(registry.contentType).send(await registry.metrics())
      },
    }),
  ]
}

let ofProcess: Registry | null = null

/** Event loop, memory, garbage collection, processor time. They are watched once, however many servers a process has. */
function metricsOfProcess(): Registry {
  if (ofProcess !== null) return ofProcess
  ofProcess = new Registry()
  collectDefaultMetrics({ register: ofProcess })
  return ofProcess
}

type Reading = [labels: Record<string, string>, value: number]

function metricsOf({ queues, bodies, requests, chats, waitingCalls, engines }: MetricSources): Registry {
  const registry = new Registry()
  /** Values are read when somebody asks: what they count is counted where it happens. */
  const metric = (Kind: typeof Gauge | typeof Counter, name: string, help: string, readings: () => Reading[]) => {
    const labelNames = Object.keys(readings()[0]?.[0] ?? {})
    const own = new Kind({
      name: `heddle_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect: () => {
        own.reset()
        for (const [labels, value] of readings()) own.inc(labels, value)
      },
    })
  }
  const gauge = (name: string, help: string, value: () => number) => metric(Gauge, name, help, () => [[{}, value()]])
  const ofQueues = (read: (snapshot: FairQueueSnapshot) => Reading[]) => () =>
    queues.flatMap((queue) => {
      const snapshot = queue.snapshot()
      return read(snapshot).map(([labels, value]): Reading => [{ queue: snapshot.name, ...labels }, value])
    })
  metric(
    Gauge,
    "queue_running",
    "Work that runs.",
    ofQueues(({ running }) => labelled("kind", running)),
  )
  metric(
    Gauge,
    "queue_waiting",
    "Work that waits for its turn.",
    ofQueues(({ waiting }) => labelled("kind", waiting)),
  )
  metric(
    Counter,
    "queue_finished_total",
    "Work that came to its end.",
    ofQueues(({ finished }) => labelled("kind", finished)),
  )
  metric(
    Counter,
    "queue_cancelled_total",
    "Work whose client left while it waited, or while it ran and did not come to its end.",
    ofQueues(({ cancelled }) => labelled("while", cancelled)),
  )
  metric(
    Counter,
    "queue_refused_total",
    "Work that was refused: too much of one user waited, too much in all, or its turn did not come in time.",
    ofQueues(({ refused }) => labelled("reason", refused)),
  )
  gauge("body_memory_bytes", "Memory that the bodies of requests hold.", () => bodies.snapshot().bytes)
  gauge("bodies_waiting", "Bodies of requests that wait for memory.", () => bodies.snapshot().waiting)
  gauge("requests_waiting", "Requests that wait to be begun.", () => requests.waiting)
  gauge("calls_waiting_bytes", "Bytes of calls that wait to be stored.", waitingCalls)
  gauge("chat_prompts", "Prompts of chats and completions in progress.", () => chats().prompts)
  gauge("chat_choices", "Choices of chats and completions in progress.", () => chats().choices)
  gauge("chat_tokens", "Tokens that the choices in progress may have at most.", () => chats().tokens)
  addEngineMetrics(registry, engines)
  return registry
}

function labelled(label: string, values: Readonly<Record<string, number>>): Reading[] {
  return Object.entries(values).map(([key, value]) => [{ [label]: key }, value])
}
