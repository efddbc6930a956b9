/** `/objs/…/tags`, `/objs/…/aliases`, `/tags` and `/aliases`: evaluation-store-objects 2.7, 2.8 and 4. */
import { HeddleError } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import {
  addTags,
  listAliases,
  listTags,
  removeAliases,
  removeTags,
  setAliases,
  type VersionKey,
} from "../storage/catalog/objects/object-labels.ts"
import {
  aliasesRemoveBody,
  aliasesSetBody,
  aliasList,
  labelsChanged,
  labelsQuery,
  objectParams,
  tagList,
  tagsBody,
  versionParams,
} from "../wire/objects/object-labels.ts"
import type { StoreDependencies } from "./dependencies.ts"
import { existingProject } from "../access/project-access.ts"
import { checkAliases, checkTags } from "./label-names.ts"

const shared = { dialect: "reason", tag: "Objects" } as const

export function objectLabelRoutes({ database }: StoreDependencies): Route[] {
  return [
    route({
      ...shared,
      method: "PUT",
      path: "/objs/:object_id/versions/:digest/tags",
      access: { right: "write", of: "project body.project_id" },
      summary: "Add tags to a version of an object",
      schemas: { params: versionParams, body: tagsBody },
      response: labelsChanged,
      handle: async ({ params, body, principal }) => {
        const tags = checkTags(body.tags)
        const project = await existingProject(database, principal, body.project_id)
        const version = { objectId: params.object_id, digest: params.digest }
        if (!(await addTags(database, project.id, version, tags))) throw versionNotFound(version)
        return {}
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/objs/:object_id/versions/:digest/tags/remove",
      access: { right: "write", of: "project body.project_id" },
      summary: "Take tags off a version of an object",
      schemas: { params: versionParams, body: tagsBody },
      response: labelsChanged,
      handle: async ({ params, body, principal }) => {
        const project = await existingProject(database, principal, body.project_id)
        const version = { objectId: params.object_id, digest: params.digest }
        await removeTags(database, project.id, version, body.tags)
        return {}
      },
    }),
    route({
      ...shared,
      method: "PUT",
      path: "/objs/:object_id/aliases",
      access: { right: "write", of: "project body.project_id" },
      summary: "Let aliases name a version of an object",
      schemas: { params: objectParams, body: aliasesSetBody },
      response: labelsChanged,
      handle: async ({ params, body, principal }) => {
        const aliases = checkAliases(body.aliases)
        const project = await existingProject(database, principal, body.project_id)
        const version = { objectId: params.object_id, digest: body.digest }
        if (!(await setAliases(database, project.id, version, aliases))) throw versionNotFound(version)
        return {}
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/objs/:object_id/aliases/remove",
      access: { right: "write", of: "project body.project_id" },
      summary: "Take aliases off an object",
      schemas: { params: objectParams, body: aliasesRemoveBody },
      response: labelsChanged,
      handle: async ({ params, body, principal }) => {
        const aliases = checkAliases(body.aliases)
        const project = await existingProject(database, principal, body.project_id)
        await removeAliases(database, project.id, params.object_id, aliases)
        return {}
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/tags",
      access: { right: "read", of: "project query.project_id" },
      summary: "List the tags of a project",
      schemas: { query: labelsQuery },
      response: tagList,
      handle: async ({ query, principal }) => {
        const project = await existingProject(database, principal, query.project_id)
        return { tags: await listTags(database, project.id) }
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/aliases",
      access: { right: "read", of: "project query.project_id" },
      summary: "List the aliases of a project",
      schemas: { query: labelsQuery },
      response: aliasList,
      handle: async ({ query, principal }) => {
        const project = await existingProject(database, principal, query.project_id)
        return { aliases: await listAliases(database, project.id) }
      },
    }),
  ]
}

function versionNotFound({ objectId, digest }: VersionKey): HeddleError {
  return new HeddleError(
    "not_found",
    `Object version ${objectId}:${digest} not found; name a live version by its content digest`,
  )
}
