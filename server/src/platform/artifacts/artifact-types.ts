/** The GraphQL types of artifacts, as far as this server has them: platform-wandb 3, 4, 9. They go on where `graphql-types.ts` ends. */

/** Of every kind of collection: GraphQL wants them said of the interface and of each type. */
const collectionFields = `
    id: ID
    name: String
    description: String
    createdAt: DateTime
    updatedAt: DateTime
    state: String
    project: Project
    defaultArtifactType: ArtifactType
    tags: TagConnection
    aliases(after: String, first: Int): ArtifactAliasConnection
    artifacts(after: String, first: Int, order: String, filters: JSONString): ArtifactConnection
    artifactMembership(aliasName: String): ArtifactCollectionMembership
`

export const artifactTypes = `
  scalar AddAliasesInput
  scalar AlertSeverity
  scalar ArtifactAliasInput
  scalar ArtifactDigestAlgorithm
  scalar ArtifactManifestEntryInput
  scalar ArtifactManifestType
  scalar ArtifactStorageLayout
  scalar CommitArtifactInput
  scalar CompleteMultipartAction
  scalar CompleteMultipartUploadArtifactInput
  scalar CreateArtifactCollectionTagAssignmentsInput
  scalar CreateArtifactManifestInput
  scalar DeleteAliasesInput
  scalar DeleteArtifactCollectionTagAssignmentsInput
  scalar DeleteArtifactInput
  scalar DeleteArtifactPortfolioInput
  scalar DeleteArtifactSequenceInput
  scalar LinkArtifactInput
  scalar MoveArtifactSequenceInput
  scalar TagInput
  scalar UnlinkArtifactInput
  scalar UpdateArtifactInput
  scalar UpdateArtifactManifestInput
  scalar UpdateArtifactPortfolioInput
  scalar UpdateArtifactSequenceInput
  scalar UploadPartsInput
  input CreateArtifactInput {
    entityName: String
    projectName: String
    runName: String
    artifactTypeName: String
    artifactCollectionName: String
    artifactCollectionNames: [String!]
    digest: String
    digestAlgorithm: ArtifactDigestAlgorithm
    description: String
    aliases: [ArtifactAliasInput!]
    tags: [TagInput!]
    metadata: JSONString
    ttlDurationSeconds: Int64
    historyStep: Int64
    enableDigestDeduplication: Boolean
    distributedID: String
    clientID: ID
    sequenceClientID: ID
    storageRegion: String
    labels: JSONString
    clientMutationId: String
  }
  input UseArtifactInput {
    artifactID: ID
    entityName: String
    projectName: String
    runName: String
    usedAs: String
    artifactEntityName: String
    artifactProjectName: String
    clientMutationId: String
  }
  input CreateArtifactFileSpecInput {
    artifactID: ID
    name: String
    md5: String
    mimetype: String
    artifactManifestID: ID
    uploadPartsInput: [UploadPartsInput!]
  }
  input CreateArtifactFilesInput {
    artifactFiles: [CreateArtifactFileSpecInput!]
    storageLayout: ArtifactStorageLayout
    clientMutationId: String
  }

  type Artifact {
    id: ID
    state: String
    versionIndex: Int
    digest: String
    digestAlgorithm: String
    description: String
    metadata: JSONString
    tags: [Tag]
    ttlDurationSeconds: Int64
    ttlIsInherited: Boolean
    historyStep: Int64
    size: Int64
    fileCount: Int64
    commitHash: String
    createdAt: DateTime
    updatedAt: DateTime
    artifactType: ArtifactType
    artifactSequence: ArtifactSequence
    aliases: [ArtifactAlias]
    currentManifest: ArtifactManifest
    files(names: [String], after: String, first: Int): FileConnection
    filesByManifestEntries(
      entries: [ArtifactManifestEntryInput!]
      storageLayout: String
      manifestVersion: String
      storageRegion: String
    ): FileConnection
    createdBy: ArtifactCreator
    usedBy: RunConnection
    artifactMemberships(after: String, first: Int): ArtifactMembershipConnection
  }
  union ArtifactCreator = Run | User
  type ArtifactAlias { id: ID alias: String artifactCollection: ArtifactCollection }
  type Tag { id: ID name: String }
  type ArtifactManifest { id: ID file: File }
  type ArtifactEdge { node: Artifact version: String cursor: String }
  type ArtifactConnection { edges: [ArtifactEdge] pageInfo: PageInfo totalCount: Int }
  type ArtifactCollectionMembership {
    id: ID
    versionIndex: Int
    createdAt: DateTime
    aliases: [ArtifactAlias]
    artifactCollection: ArtifactCollection
    artifact: Artifact
    files(names: [String], after: String, first: Int): FileConnection
  }
  type ArtifactMembershipEdge { node: ArtifactCollectionMembership }
  type ArtifactMembershipConnection { edges: [ArtifactMembershipEdge] pageInfo: PageInfo totalCount: Int }
  interface ArtifactCollection {
    ${collectionFields}
  }
  type ArtifactSequence implements ArtifactCollection {
    ${collectionFields}
    digestAlgorithm: String
    latestArtifact: Artifact
  }
  type ArtifactPortfolio implements ArtifactCollection {
    ${collectionFields}
  }
  type ArtifactCollectionEdge { node: ArtifactCollection cursor: String }
  type ArtifactCollectionConnection { edges: [ArtifactCollectionEdge] pageInfo: PageInfo totalCount: Int }
  type TagEdge { node: Tag }
  type TagConnection { edges: [TagEdge] pageInfo: PageInfo totalCount: Int }
  type ArtifactAliasEdge { node: ArtifactAlias }
  type ArtifactAliasConnection { edges: [ArtifactAliasEdge] pageInfo: PageInfo }
  type ArtifactType {
    id: ID
    name: String
    description: String
    createdAt: DateTime
    artifact(name: String): Artifact
    artifactCollection(name: String): ArtifactCollection
    artifactCollections(after: String, first: Int, filters: JSONString, order: String): ArtifactCollectionConnection
  }
  type ArtifactTypeEdge { node: ArtifactType }
  type ArtifactTypeConnection { edges: [ArtifactTypeEdge] pageInfo: PageInfo totalCount: Int }
  type ClientIDMapping { serverID: ID }
  type UploadMultipartUrls { uploadID: String uploadUrlParts: [UploadUrlPart] }
  type UploadUrlPart { partNumber: Int64 uploadUrl: String }

  type CreateArtifactPayload { artifact: Artifact }
  type ArtifactPayload { artifact: Artifact }
  type ArtifactManifestPayload { artifactManifest: ArtifactManifest }
  type CreateArtifactFilesPayload { files: FileConnection }
  type CompleteMultipartUploadArtifactPayload { digest: String }
  type LinkArtifactPayload { versionIndex: Int artifactMembership: ArtifactCollectionMembership }
  type ArtifactCollectionPayload { artifactCollection: ArtifactCollection }
  type TagsPayload { success: Boolean tags: [Tag] }
`
