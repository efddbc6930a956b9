/** The GraphQL types that the clients of W&B know, as far as this server has them: platform-wandb 3, 4. */

/**
 * Inputs that are read by us are scalars: one with a field that we do not know is read all the same. The input types with
 * fields are there for clients that ask which fields an input has.
 */
export const platformTypes = `
  scalar JSON
  scalar JSONString
  scalar Int64
  scalar DateTime
  scalar Duration
  scalar UpsertModelInput
  scalar UpsertBucketInput
  scalar CreateRunFilesInput
  scalar DeleteRunInput
  scalar StopRunInput
  scalar UpdateRunStateInput
  scalar NotifyScriptableRunAlertInput
  input RewindRunInput {
    runName: String
    entityName: String
    projectName: String
    metricName: String
    metricValue: Float
    clientMutationId: String
  }
  input DeleteFilesInput { files: [ID!]! projectId: Int }

  type Query {
    viewer: User
    project(name: String, entityName: String): Project
    model(name: String, entityName: String): Project
    models(entityName: String, after: String, first: Int): ProjectConnection
    entity(name: String): Entity
    users(query: String): UserConnection
    serverInfo: ServerInfo
    artifact(id: ID): Artifact
    artifactCollection(id: ID): ArtifactCollection
    clientIDMapping(clientID: ID): ClientIDMapping
  }
  type Mutation {
    upsertModel(input: UpsertModelInput): UpsertModelPayload
    upsertBucket(input: UpsertBucketInput): UpsertBucketPayload
    rewindRun(input: RewindRunInput): RewindRunPayload
    createRunFiles(input: CreateRunFilesInput): CreateRunFilesPayload
    deleteRun(input: DeleteRunInput): SuccessPayload
    stopRun(input: StopRunInput): SuccessPayload
    updateRunState(input: UpdateRunStateInput): SuccessPayload
    notifyScriptableRunAlert(input: NotifyScriptableRunAlertInput): SuccessPayload
    deleteFiles(input: DeleteFilesInput): SuccessPayload
    createArtifact(input: CreateArtifactInput): CreateArtifactPayload
    createArtifactManifest(input: CreateArtifactManifestInput): ArtifactManifestPayload
    updateArtifactManifest(input: UpdateArtifactManifestInput): ArtifactManifestPayload
    createArtifactFiles(input: CreateArtifactFilesInput): CreateArtifactFilesPayload
    completeMultipartUploadArtifact(input: CompleteMultipartUploadArtifactInput): CompleteMultipartUploadArtifactPayload
    commitArtifact(input: CommitArtifactInput): ArtifactPayload
    useArtifact(input: UseArtifactInput): ArtifactPayload
    updateArtifact(input: UpdateArtifactInput): ArtifactPayload
    deleteArtifact(input: DeleteArtifactInput): ArtifactPayload
    addAliases(input: AddAliasesInput): SuccessPayload
    deleteAliases(input: DeleteAliasesInput): SuccessPayload
    linkArtifact(input: LinkArtifactInput): LinkArtifactPayload
    unlinkArtifact(input: UnlinkArtifactInput): SuccessPayload
    updateArtifactSequence(input: UpdateArtifactSequenceInput): ArtifactCollectionPayload
    updateArtifactPortfolio(input: UpdateArtifactPortfolioInput): ArtifactCollectionPayload
    moveArtifactSequence(input: MoveArtifactSequenceInput): ArtifactCollectionPayload
    deleteArtifactSequence(input: DeleteArtifactSequenceInput): ArtifactCollectionPayload
    deleteArtifactPortfolio(input: DeleteArtifactPortfolioInput): ArtifactCollectionPayload
    createArtifactCollectionTagAssignments(input: CreateArtifactCollectionTagAssignmentsInput): TagsPayload
    deleteArtifactCollectionTagAssignments(input: DeleteArtifactCollectionTagAssignmentsInput): TagsPayload
  }

  type User {
    id: ID
    username: String
    name: String
    email: String
    admin: Boolean
    flags: JSONString
    entity: String
    defaultEntity: Entity
    teams: TeamConnection
  }
  type TeamConnection { edges: [TeamEdge] }
  type TeamEdge { node: Entity }
  type UserConnection { edges: [UserEdge] }
  type UserEdge { node: User }
  type Entity {
    id: ID
    name: String
    readOnly: Boolean
    xxhashDigestsEnabled: Boolean
    available: Boolean
    isTeam: Boolean
    entityType: String
    readOnlyAdmin: Boolean
    privateOnly: Boolean
    codeSavingEnabled: Boolean
    defaultAccess: String
    storageBytes: Int64
    members: [EntityMember]
  }
  type EntityMember {
    id: ID
    username: String
    name: String
    email: String
    admin: Boolean
    pending: Boolean
    accountType: String
  }
  type Project {
    id: ID
    internalId: ID
    name: String
    entityName: String
    description: String
    repo: String
    entity: Entity
    createdAt: DateTime
    isBenchmark: Boolean
    readOnly: Boolean
    run(name: String): Run
    bucket(name: String, missingOk: Boolean): Run
    runs(filters: JSONString, order: String, after: String, first: Int): RunConnection
    runCount(filters: JSONString): Int
    alerts(after: String, first: Int): RunAlertConnection
    totalSweeps: Int
    sweeps(after: String, first: Int, filters: JSONString): SweepConnection
    allViews(viewType: String, viewName: String, first: Int, after: String): ViewConnection
    artifact(name: String, enableTracking: Boolean): Artifact
    artifactCollectionMembership(name: String): ArtifactCollectionMembership
    artifactCollection(name: String): ArtifactCollection
    artifactCollections(after: String, first: Int, filters: JSONString, order: String): ArtifactCollectionConnection
    artifactType(name: String): ArtifactType
    artifactTypes(after: String, first: Int): ArtifactTypeConnection
  }
  type ProjectConnection { edges: [ProjectEdge] pageInfo: PageInfo }
  type ProjectEdge { node: Project cursor: String }
  type SweepConnection { edges: [SweepEdge] pageInfo: PageInfo }
  type SweepEdge { node: Sweep }
  type Sweep { id: ID }
  type ViewConnection { edges: [ViewEdge] pageInfo: PageInfo }
  type ViewEdge { node: View cursor: String }
  type View { id: ID }
  type PageInfo { hasNextPage: Boolean endCursor: String }
  type UpsertModelPayload { model: Project project: Project inserted: Boolean }
  type ServerInfo { frontendHost: String cliVersionInfo: JSON features: [ServerFeature] }
  type ServerFeature { name: String isEnabled: Boolean }
  type ServerSettings { serverMessages: [ServerMessage] }
  type ServerMessage { utfText: String plainText: String htmlText: String messageType: String messageLevel: String }

  type Run {
    id: ID
    name: String
    displayName: String
    description: String
    notes: String
    tags: [String]
    group: String
    groupName: String
    jobType: String
    commit: String
    host: String
    readOnly: Boolean
    state: String
    exitCode: Int
    stopped: Boolean
    sweepName: String
    createdAt: DateTime
    heartbeatAt: DateTime
    updatedAt: DateTime
    user: User
    project: Project
    projectId: Int64
    config: JSONString
    summaryMetrics: JSONString
    systemMetrics: JSONString
    wandbConfig(keys: [String!]): JSONString
    historyLineCount: Int
    logLineCount: Int
    eventsLineCount: Int
    historyTail: JSONString
    eventsTail: JSONString
    historyKeys: JSON
    history(samples: Int, minStep: Int64, maxStep: Int64): [JSONString]
    sampledHistory(specs: [JSONString!]): [JSON]
    parquetHistory(liveKeys: [String!]): ParquetHistory
    events(samples: Int): [JSONString]
    logLines(first: Int, after: String, last: Int, useImprovedPagination: Boolean): LogLineConnection
    fileCount: Int
    files(names: [String], pattern: String, after: String, first: Int): FileConnection
    alerts(after: String, first: Int): RunAlertConnection
    outputArtifacts(after: String, first: Int): ArtifactConnection
    inputArtifacts(after: String, first: Int): ArtifactConnection
  }
  type RunConnection { edges: [RunEdge] pageInfo: PageInfo totalCount: Int }
  type RunEdge { node: Run cursor: String }
  type ParquetHistory { parquetUrls: [String] liveData: [JSON] }
  type LogLineConnection { edges: [LogLineEdge] pageInfo: PageInfo }
  type LogLineEdge { node: LogLine cursor: String }
  type LogLine { number: Int line: String timestamp: String level: String label: String }
  type RunAlertConnection { edges: [RunAlertEdge] pageInfo: PageInfo }
  type RunAlertEdge { node: RunAlert cursor: String }
  type RunAlert { id: ID runName: String title: String text: String severity: String createdAt: DateTime }
  type FileConnection { edges: [FileEdge] pageInfo: PageInfo totalCount: Int }
  type FileEdge { node: File cursor: String }
  type File {
    id: ID
    name: String
    url(upload: Boolean): String
    displayName: String
    storagePath: String
    uploadUrl: String
    uploadHeaders: [String]
    directUrl: String
    sizeBytes: Int64
    mimetype: String
    updatedAt: DateTime
    digest: String
    md5: String
    uploadMultipartUrls: UploadMultipartUrls
    artifact: Artifact
  }
  type UpsertBucketPayload { bucket: Run inserted: Boolean serverSettings: ServerSettings }
  type RewindRunPayload { rewoundRun: Run }
  type CreateRunFilesPayload { runID: ID uploadHeaders: [String] files: [UploadFile] }
  type UploadFile { name: String uploadUrl: String }
  type SuccessPayload { success: Boolean clientMutationId: String }
`
