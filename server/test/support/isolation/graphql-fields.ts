/** A valid request for each root field of GraphQL; `route-requests.ts` has those of routes. */
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
const inProject = ({ entity: entityName, project: projectName }: Handles) => ({ entityName, projectName })
const artifactId = ({ wandbArtifactId: id }: Handles) => ({ id })
const ofArtifact = ({ wandbArtifactId: artifactID }: Handles) => ({ artifactID })
const ofSequence = ({ wandbSequenceId: artifactSequenceID }: Handles) => ({ artifactSequenceID })
const ofPortfolio = ({ wandbPortfolioId: artifactPortfolioID }: Handles) => ({ artifactPortfolioID })
const aliases = (h: Handles) => ({
  ...ofArtifact(h),
  aliases: [{ alias: "another", artifactCollectionName: h.wandbCollection }],
})
const collectionTags = (h: Handles) => ({
  ...inProject(h),
  artifactCollectionName: h.wandbCollection,
  tags: [{ tagName: "another" }],
})

/** A mutation with one input, which answers with the selected fields. */
const change = (
  name: string,
  type: string,
  selection: string,
  input: (handles: Handles) => object,
  kind: RouteCase["kind"] = "write",
) =>
  ask(kind, `mutation($input: ${type}) { ${name}(input: $input) { ${selection} } }`, (handles) => ({
    input: input(handles),
  }))

const projectQuery =
  "query($entity: String, $project: String) { found: FIELD(name: $project, entityName: $entity) { runCount } }"

export const graphqlFields = {
  viewer: ask("read", "{ viewer { username } }"),
  serverInfo: ask("read", "{ serverInfo { frontendHost } }"),
  entity: ask("read", "query($entity: String) { entity(name: $entity) { id } }", named),
  users: ask("read", "query($entity: String) { users(query: $entity) { edges { node { username } } } }", named),
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
  updateRunState: ask(
    "write",
    "mutation($input: UpdateRunStateInput) { updateRunState(input: $input) { success } }",
    (h) => ({ input: { ...byId(h).input, state: "failed" } }),
  ),
  notifyScriptableRunAlert: change("notifyScriptableRunAlert", "NotifyScriptableRunAlertInput", "success", (h) => ({
    ...run(h).input,
    title: "of an attack",
    text: "text",
  })),
  artifact: ask("read", "query($id: ID!) { artifact(id: $id) { id } }", artifactId),
  artifactCollection: ask(
    "read",
    "query($id: ID!) { artifactCollection(id: $id) { id } }",
    ({ wandbSequenceId: id }) => ({
      id,
    }),
  ),
  clientIDMapping: ask("read", "query($id: ID!) { clientIDMapping(clientID: $id) { serverID } }", artifactId),
  createArtifact: change("createArtifact", "CreateArtifactInput!", "artifact { id }", (h) => ({
    ...inProject(h),
    artifactTypeName: "dataset",
    artifactCollectionName: "another",
    digest: "d41d8cd98f00b204e9800998ecf8427e",
  })),
  createArtifactManifest: change(
    "createArtifactManifest",
    "CreateArtifactManifestInput!",
    "artifactManifest { id }",
    (h) => ({ ...ofArtifact(h), name: "wandb_manifest.json", digest: "" }),
  ),
  updateArtifactManifest: change(
    "updateArtifactManifest",
    "UpdateArtifactManifestInput!",
    "artifactManifest { id }",
    ({ wandbManifestId: artifactManifestID }) => ({ artifactManifestID }),
  ),
  createArtifactFiles: change(
    "createArtifactFiles",
    "CreateArtifactFilesInput!",
    "files { edges { node { id } } }",
    (h) => ({ artifactFiles: [{ ...ofArtifact(h), name: "a.txt", md5: "1B2M2Y8AsgTpgAmY7PhCfg==" }] }),
  ),
  completeMultipartUploadArtifact: change(
    "completeMultipartUploadArtifact",
    "CompleteMultipartUploadArtifactInput!",
    "digest",
    (h) => ({ ...ofArtifact(h), completeMultipartAction: "Abort", completedParts: [], uploadID: "none" }),
  ),
  commitArtifact: change("commitArtifact", "CommitArtifactInput!", "artifact { id }", ofArtifact),
  useArtifact: change("useArtifact", "UseArtifactInput!", "artifact { id }", (h) => ({
    ...ofArtifact(h),
    ...inProject(h),
    runName: h.wandbRunName,
  })),
  updateArtifact: change("updateArtifact", "UpdateArtifactInput!", "artifact { id }", (h) => ({
    ...ofArtifact(h),
    description: "another",
  })),
  addAliases: change("addAliases", "AddAliasesInput!", "success", aliases),
  deleteAliases: change("deleteAliases", "DeleteAliasesInput!", "success", aliases),
  linkArtifact: change("linkArtifact", "LinkArtifactInput!", "versionIndex", (h) => ({
    ...ofArtifact(h),
    ...inProject(h),
    artifactPortfolioName: h.wandbPortfolio,
  })),
  updateArtifactSequence: change(
    "updateArtifactSequence",
    "UpdateArtifactSequenceInput!",
    "artifactCollection { id }",
    (h) => ({ ...ofSequence(h), description: "another" }),
  ),
  updateArtifactPortfolio: change(
    "updateArtifactPortfolio",
    "UpdateArtifactPortfolioInput!",
    "artifactCollection { id }",
    (h) => ({ ...ofPortfolio(h), description: "another" }),
  ),
  moveArtifactSequence: change(
    "moveArtifactSequence",
    "MoveArtifactSequenceInput!",
    "artifactCollection { id }",
    (h) => ({ ...ofSequence(h), destinationArtifactTypeName: "another" }),
  ),
  createArtifactCollectionTagAssignments: change(
    "createArtifactCollectionTagAssignments",
    "CreateArtifactCollectionTagAssignmentsInput!",
    "tags { name }",
    collectionTags,
  ),
  deleteArtifactCollectionTagAssignments: change(
    "deleteArtifactCollectionTagAssignments",
    "DeleteArtifactCollectionTagAssignmentsInput!",
    "success",
    collectionTags,
  ),
  unlinkArtifact: change("unlinkArtifact", "UnlinkArtifactInput!", "success", (h) => ({
    ...ofArtifact(h),
    ...ofPortfolio(h),
  })),
  deleteArtifactPortfolio: change(
    "deleteArtifactPortfolio",
    "DeleteArtifactPortfolioInput!",
    "artifactCollection { id }",
    ofPortfolio,
    "delete",
  ),
  deleteArtifact: change(
    "deleteArtifact",
    "DeleteArtifactInput!",
    "artifact { id }",
    (h) => ({ ...ofArtifact(h), deleteAliases: true }),
    "delete",
  ),
  deleteArtifactSequence: change(
    "deleteArtifactSequence",
    "DeleteArtifactSequenceInput!",
    "artifactCollection { id }",
    ofSequence,
    "delete",
  ),
  deleteFiles: ask("delete", "mutation($input: DeleteFilesInput) { deleteFiles(input: $input) { success } }", (h) => ({
    input: { files: [h.wandbFileId] },
  })),
  deleteRun: ask("delete", "mutation($input: DeleteRunInput) { deleteRun(input: $input) { success } }", byId),
}
