/** Export and import of calls, feedback and datasets. */
import type { Area } from "../http/area.ts"
import type { CallDependencies } from "../calls/dependencies.ts"
import { exportRoutes } from "./export/export-routes.ts"
import { importRoutes } from "./import/import-routes.ts"

export function openTransfer(dependencies: CallDependencies): Area {
  return {
    routes: [...exportRoutes(dependencies), ...importRoutes(dependencies)],
  }
}
