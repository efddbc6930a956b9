/** A request for each root field of GraphQL, as `route-requests.ts` has one for each route. */
import type { RouteCase, RouteRequest } from "./route-requests.ts"
import type { Handles } from "./team-world.ts"

const ask =
  (kind: RouteCase["kind"], query: string, variables: (handles: Handles) => object = () => ({})) =>
  (handles: Handles): { kind: RouteCase["kind"]; request: RouteRequest } => ({
    kind,
    request: { body: { query, variables: variables(handles) } },
  })

const named = ({ entity, project }: Handles) => ({ entity, project })
const run = ({ entity, project, wandbRunName: runName }: Handles) => ({
  input: { entityName: entity, projectName: project, runName },
})
const byId = ({ wandbRunId: id }: Handles) => ({ input: { id } })
const projectQuery =
  "query($entity: String, $project: String) { found: FIELD(name: $project, entityName: $entity) { runCount } }"

export const graphqlFields = {
  viewer: ask("read", "{ viewer { username } }"),
  serverInfo: ask("read", "{ serverInfo { frontendHost } }"),
  entity: ask("read", "query($entity: String) { entity(name: $entity) { id } }", named),
  project: ask("read", projectQuery.replace("FIELD", "project"), named),
  model: ask("read", projectQuery.replace("FIELD", "model"), named),
  models: ask("read", "query($entity: String) { models(entityName: $entity) { edges { cursor } } }", named),
  upsertModel: ask("write", "mutation($input: UpsertModelInput) { upsertModel(input: $input) { inserted } }", (h) => ({
    input: { entityName: h.entity, name: h.project },
  })),
  upsertBucket: ask(
    "write",
    "mutation($input: UpsertBucketInput) { upsertBucket(input: $input) { inserted } }",
    (h) => ({
      input: { entityName: h.entity, modelName: h.project, name: h.wandbRunName },
    }),
  ),
  createRunFiles: ask(
    "write",
    "mutation($input: CreateRunFilesInput) { createRunFiles(input: $input) { runID } }",
    (h) => ({ input: { ...run(h).input, files: ["a.txt"] } }),
  ),
  rewindRun: ask(
    "write",
    "mutation($input: RewindRunInput) { rewindRun(input: $input) { rewoundRun { id } } }",
    (h) => ({
      input: { ...run(h).input, metricName: "_step", metricValue: 0 },
    }),
  ),
  stopRun: ask("write", "mutation($input: StopRunInput) { stopRun(input: $input) { success } }", byId),
  deleteFiles: ask("delete", "mutation($input: DeleteFilesInput) { deleteFiles(input: $input) { success } }", (h) => ({
    input: { files: [h.wandbFileId] },
  })),
  deleteRun: ask("delete", "mutation($input: DeleteRunInput) { deleteRun(input: $input) { success } }", byId),
}
