/** Health of the server, as training clients ask for it: rows 12 and 13 of training-api 1.1. */
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import { pingCatalog } from "../storage/catalog/open-catalog.ts"
import { type ComponentCheck, health, type SystemCheck, systemCheck } from "../wire/training/health.ts"
import { shared } from "../work/shared-work.ts"
import type { TrainingDependencies } from "./dependencies.ts"

export function healthRoutes(dependencies: TrainingDependencies): Route[] {
  // Anybody may ask, and each look is a question to every engine and store.
  const check = shared(() => checkSystem(dependencies))
  return [
    route({
      method: "GET",
      path: "/v1/health",
      access: "public",
      dialect: "detail",
      summary: "The server takes requests, and reaches its stores",
      tag: "Health",
      schemas: {},
      response: health,
      handle: () => dependencies.checkHealth(),
    }),
    route({
      method: "GET",
      path: "/v1/system-check",
      access: "public",
      tellsMoreToCallers: true,
      dialect: "detail",
      summary: "Check every part; 503 with the same body when one fails",
      tag: "Health",
      schemas: {},
      response: systemCheck,
      otherAnswers: { 503: { description: "A part fails", schema: systemCheck } },
      handle: async ({ reply, principal }) => {
        const result = await check()
        const sound = result.database && result.cpu_queue.success && result.gpu_queue.success && result.disk.success
        if (!sound) reply.code(503)
        const isStranger = (principal as Principal | null) === null
        return isStranger ? withoutReasons(result) : result
      },
    }),
  ]
}

async function checkSystem(dependencies: TrainingDependencies): Promise<SystemCheck> {
  const { database, trajectories, engineChecks, diskShortage } = dependencies
  const [store, cpu, engines, disk] = await Promise.all([
    timed(() => pingCatalog(database)),
    timed(() => trajectories.ping()),
    Promise.all(engineChecks().map(timed)),
    timed(async () => {
      const shortage = await diskShortage()
      if (shortage !== null) throw new Error(shortage)
    }),
  ])
  return { api: true, database: store.success, cpu_queue: cpu, gpu_queue: anyOf(engines), disk, engines }
}

/** Reasons name addresses of engines and stores, and folders. */
function withoutReasons(check: SystemCheck): SystemCheck {
  const { cpu_queue, gpu_queue, disk, engines } = check
  return {
    ...check,
    cpu_queue: withoutReason(cpu_queue),
    gpu_queue: withoutReason(gpu_queue),
    disk: withoutReason(disk),
    engines: engines.map(withoutReason),
  }
}

function withoutReason(component: ComponentCheck): ComponentCheck {
  return component.error === null ? component : { ...component, error: "this fails; ask with a key to be told why" }
}

/** One engine that works can do all that several can. */
function anyOf(engines: readonly ComponentCheck[]): ComponentCheck {
  const works = engines.find(({ success }) => success)
  if (works !== undefined) return works
  const duration = Math.max(...engines.map((engine) => engine.duration))
  return { success: false, duration, error: engines.map(({ error }) => error).join("; ") }
}

async function timed(check: () => Promise<void>): Promise<ComponentCheck> {
  const began = performance.now()
  const error = await check().then(
    () => null,
    (failure: Error) => failure.message,
  )
  return { success: error === null, duration: (performance.now() - began) / 1000, error }
}
