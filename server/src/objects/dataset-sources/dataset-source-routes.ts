/** `/dataset_sources/…`: evaluation-store-objects 10. */
import { type Route, route } from "../../http/route.ts"
import {
  datasetSourceLinkBody,
  datasetSourceQueryBody,
  datasetSources,
  datasetSourcesLinked,
  datasetSourcesUnlinked,
  datasetSourceUnlinkBody,
  sourceDatasets,
  sourceDatasetsBody,
} from "../../wire/objects/dataset-source.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { jsonDocument, sendStream } from "../../http/answers/json-stream.ts"
import { noLookups } from "../../threads/thread-task.ts"
import { linksTask } from "./link-body.ts"
import { linkSources, querySourceDatasets, querySources, unlinkSources } from "./dataset-sources.ts"

const shared = { method: "POST", dialect: "reason", tag: "Datasets" } as const
const json = "application/json; charset=utf-8"

export function datasetSourceRoutes(dependencies: StoreDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/dataset_sources/link",
      access: { right: "write", of: "project body.project_id" },
      summary: "Say which calls, spans and conversations the rows of a dataset came from",
      schemas: {},
      rawBody: true,
      bodyDocument: datasetSourceLinkBody,
      response: datasetSourcesLinked,
      handle: async ({ body, principal }) => {
        const options = { bytes: body.length, answer: noLookups }
        const { read } = await dependencies.threads.run(linksTask, { bytes: body }, options)
        return linkSources(dependencies, principal, read)
      },
    }),
    route({
      ...shared,
      path: "/dataset_sources/link_delete",
      access: { right: "write", of: "project body.project_id" },
      summary: "Take such links back; making them again brings them back under the same id",
      schemas: { body: datasetSourceUnlinkBody },
      response: datasetSourcesUnlinked,
      handle: ({ body, principal }) => unlinkSources(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/dataset_sources/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "What the rows of a dataset came from",
      schemas: { body: datasetSourceQueryBody },
      response: datasetSources,
      handle: async ({ body, principal, reply }) =>
        sendStream(reply, json, jsonDocument("links", await querySources(dependencies, principal, body))),
    }),
    route({
      ...shared,
      path: "/dataset_sources/source_datasets_query",
      access: { right: "read", of: "project body.project_id" },
      summary: "In which datasets calls, spans and conversations are",
      schemas: { body: sourceDatasetsBody },
      response: sourceDatasets,
      handle: ({ body, principal }) => querySourceDatasets(dependencies, principal, body),
    }),
  ]
}
