/**
 * `/link_to_registry`: a registry is a project here, and a collection in it an object whose versions
 * are the linked ones. They are read, tagged and given aliases like any other.
 */
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import { setAliases } from "../storage/catalog/objects/object-labels.ts"
import { registryLinkBody, registryLinked } from "../wire/objects/registry.ts"
import type { StoreDependencies } from "./dependencies.ts"
import { existingProject, ensureProject } from "../access/project-access.ts"
import { parseRef } from "./refs/refs.ts"
import { checkAliases } from "./label-names.ts"
import { publishValue } from "./object-create.ts"
import { liveVersion, versionNotFound } from "./object-read.ts"

export function registryRoutes(dependencies: StoreDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      method: "POST",
      path: "/link_to_registry",
      access: { right: "write", of: "project body.target.entity_name/project_name" },
      dialect: "reason",
      tag: "Objects",
      summary: "Publish a version of an object as a version of a registry's collection",
      schemas: { body: registryLinkBody },
      response: registryLinked,
      handle: async ({ body: { ref, target, aliases }, principal }) => {
        const names = checkAliases(aliases)
        const text = await valueAt(dependencies, principal, ref)
        const registry = `${target.entity_name}/${target.project_name}`
        const collection = { project_id: registry, object_id: target.portfolio_name }
        const version = await publishValue(dependencies, principal, collection, text)
        const { id } = await ensureProject(database, principal, registry)
        if (!(await setAliases(database, id, version, names))) {
          throw versionNotFound({ objectId: version.objectId, version: version.digest })
        }
        return { version_index: version.versionIndex }
      },
    }),
  ]
}

/** JSON of what the ref names. */
async function valueAt({ database }: StoreDependencies, principal: Principal, text: string): Promise<string> {
  const ref = parseRef(text)
  if (ref.kind !== "object" || ref.steps.length > 0) {
    throw new HeddleError("value_error", `"${text}" is not the ref of an object; only whole objects are linked`)
  }
  const project = await existingProject(database, principal, ref.project, "read")
  const name = { objectId: ref.name, version: ref.version, kind: ref.kind }
  const { val } = await liveVersion(database, project.id, name, true)
  return val as string
}
