/** Objects: their versions, families, tables, refs, files and the sources of datasets. */
import type { Area } from "../http/area.ts"
import type { StoreDependencies } from "./dependencies.ts"
import { datasetSourceRoutes } from "./dataset-sources/dataset-source-routes.ts"
import { fileLinkRoutes } from "./project/file-link-routes.ts"
import { objectFamilyRoutes } from "./families/family-routes.ts"
import { objectLabelRoutes } from "./object-label-routes.ts"
import { objectRoutes, type VersionPublished } from "./object-routes.ts"
import { projectFileRoutes } from "./project/project-file-routes.ts"
import { projectRoutes } from "./project/project-routes.ts"
import { refRoutes } from "./refs/ref-routes.ts"
import { registryRoutes } from "./registry-routes.ts"
import { tableRoutes } from "./tables/table-routes.ts"

export function openObjects(dependencies: StoreDependencies, published: VersionPublished): Area {
  return {
    routes: [
      ...objectRoutes(dependencies, published),
      ...objectLabelRoutes(dependencies),
      ...registryRoutes(dependencies),
      ...objectFamilyRoutes(dependencies),
      ...datasetSourceRoutes(dependencies),
      ...projectRoutes(dependencies),
      ...tableRoutes(dependencies),
      ...projectFileRoutes(dependencies),
      ...fileLinkRoutes(dependencies),
      ...refRoutes(dependencies),
    ],
  }
}
