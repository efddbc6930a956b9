/** Row types of the catalog, one interface a table. Columns keep their wire names. */
import type { Generated } from "kysely"
import type { Json, NullableTimestamp, RequiredTimestamp, Timestamp } from "./column-types.ts"
import type { AuditType } from "../../wire/platform/audit-log.ts"
import type { KeyScope, Role } from "../../wire/platform/access.ts"
import type { QuotaName } from "../../wire/platform/quota.ts"
import type { StoredJobConfig } from "../../wire/training/job.ts"
import type { TrainFromBody, TrainingSummary } from "../../wire/training/train-from.ts"
import type { InvitationTable, ProjectRoleTable } from "./accounts/access-schema.ts"
import type { CallRetentionTable } from "./accounts/call-retention-schema.ts"
import type {
  AnnotationCursorTable,
  AnnotationFinalLabelTable,
  AnnotationHistoryTable,
  AnnotationItemTable,
  AnnotationLeaseTable,
  AnnotationProgressTable,
  AnnotationQueueTable,
} from "./labelling/annotation-schema.ts"
import type {
  ArtifactAliasTable,
  ArtifactClientTable,
  ArtifactCollectionTable,
  ArtifactContentTable,
  ArtifactEntryTable,
  ArtifactManifestTable,
  ArtifactMembershipTable,
  ArtifactPartTable,
  ArtifactRunTable,
  ArtifactTable,
  ArtifactUploadTable,
} from "./artifacts/artifacts-schema.ts"
import type { DatasetSourceTable } from "./objects/dataset-sources-schema.ts"
import type { ExecutionJobTable } from "./evaluations/execution-jobs-schema.ts"
import type { ScoringItemTable, ScoringPositionTable, ScoringRuleTable } from "./evaluations/scoring-schema.ts"
import type { SessionTable, SignInTokenTable } from "./accounts/sessions-schema.ts"
import type { RolloutRewardTable, RolloutTable, RolloutTurnTable } from "./training/rollouts-schema.ts"
import type { DeletedRunTable, RunAlertTable, RunFileTable, RunTable } from "./runs/runs-schema.ts"
import type {
  ObjectAliasTable,
  ObjectTagTable,
  ObjectVersionTable,
  ProjectFileTable,
} from "./objects/objects-schema.ts"

/** A team's or a person's namespace: the first part of `<entity>/<project>`. */
export interface EntityTable {
  id: Generated<string>
  name: string
  created_at: Timestamp
}

export interface UserTable {
  id: Generated<string>
  username: string
  default_entity_id: string
  is_admin: boolean
  created_at: Timestamp
  /** While it is set, the user's keys are refused. */
  disabled_at: NullableTimestamp
  /** The account of a program: it has keys, and signs in nowhere. */
  is_service_account: Generated<boolean>
}

export interface MembershipTable {
  user_id: string
  entity_id: string
  role: Role
}

export interface ApiKeyTable {
  id: Generated<string>
  user_id: string
  name: string
  /** SHA-256 of the key, hex. Keys are random and long, so no slow hash is needed. */
  sha256: string
  /** The last four characters, to recognise it in a list. */
  hint: string
  created_at: Timestamp
  revoked_at: NullableTimestamp
  /** null: never. */
  expires_at: NullableTimestamp
  /** To the minute; null: not since this is kept. */
  last_used_at: NullableTimestamp
  scope: Generated<KeyScope>
}

/** A change outside the catalog has one entry before it and one after it. */
export type AuditOutcome = "begun" | "succeeded" | "failed"

export interface AuditLogTable {
  id: Generated<string>
  /** Order of the entries. */
  sequence: Generated<number>
  created_at: Timestamp
  type: AuditType
  outcome: AuditOutcome
  /** null with the other columns of the actor: the server itself, at its start. */
  actor_user_id: string | null
  actor_username: string | null
  actor_api_key_id: string | null
  request_id: string | null
  team: string | null
  resource_id: string
  details: Json<{ [name: string]: unknown }>
}

/** A view of those that are not deleted. */
export interface ProjectTable {
  id: Generated<string>
  entity_id: string
  name: string
  created_at: Timestamp
}

/** A deleted project stays here until all that was stored under its id is removed. */
export interface AnyProjectTable extends ProjectTable {
  deleted_at: NullableTimestamp
}

export interface ModelTable {
  id: Generated<string>
  project_id: string
  name: string
  base_model: string
  /** Local folder of the base model; null for a model-hub path. */
  base_path: string | null
  run_id: string
  /** Highest step ever used; step numbers are not used twice (training-api 4.2). */
  last_step: Generated<number>
  created_at: Timestamp
  deleted_at: NullableTimestamp
}

export interface CheckpointTable {
  id: Generated<string>
  model_id: string
  step: number
  metrics: Json<Record<string, number>>
  /** Folder relative to the data folder; null for step 0, whose adapter is the seeded initial one. */
  path: string | null
  size_bytes: number
  manifest_sha256: string | null
  /** The job that made it; null for step 0. */
  job_id: string | null
  created_at: Timestamp
  /** When the optimizer's state was removed, so that a job that starts from here starts it afresh. */
  optimizer_removed_at: NullableTimestamp
  /** Deleted rows stay as tombstones so that paging past them works. */
  deleted_at: NullableTimestamp
}

export type JobKind = "rl" | "sft" | "dpo"
export type JobStatus = "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled"

export interface TrainingJobTable {
  id: Generated<string>
  /** Order of creation over all models. */
  sequence: Generated<number>
  model_id: string
  /** User that requested the job, or null for a job older than this column. */
  user_id: string | null
  kind: JobKind
  status: Generated<JobStatus>
  /** Resolved configuration (`wire/training/job.ts`). */
  config: Json<StoredJobConfig>
  /** The configuration as the client sent it, unknown fields included. */
  requested_config: Json<unknown>
  /** Engine data file: path relative to the data folder. */
  data_path: string
  data_sha256: string
  data_bytes: Generated<number>
  /** How often a process began it; bounds restarts after crashes. */
  attempts: Generated<number>
  /** Which server process holds it. */
  lease_owner: string | null
  lease_expires_at: NullableTimestamp
  output_step: number | null
  error_message: string | null
  warnings: Json<string[]>
  created_at: Timestamp
  started_at: NullableTimestamp
  ended_at: NullableTimestamp
  /** When a server last took it; null: none has since this is kept. */
  claimed_at: NullableTimestamp
  /** Set while it is paused. */
  paused_at: NullableTimestamp
  /** Of the pauses that are over, those before its beginning left out. */
  paused_seconds: Generated<number>
}

export type TrainingEventType = "training_started" | "gradient_step" | "training_ended" | "training_failed"

/** The source of a job that the server made from traced data. */
export interface TrainingSourceTable {
  job_id: string
  /** Id of its rows in the trace store. */
  id: string
  /** The source's project, which need not be the model's. */
  project_id: string
  request: Json<Pick<TrainFromBody, "source" | "target">>
  summary: Json<TrainingSummary>
}

export interface TrainingJobEventTable {
  id: Generated<string>
  job_id: string
  /** 0 is `training_started`, k the k-th gradient step; the terminal event comes last. Unique in a job. */
  sequence: number
  type: TrainingEventType
  data: Json<Record<string, unknown>>
  created_at: Timestamp
}

/** An answer of `/v1/responses`. */
interface StoredResponseTable {
  id: string
  project_id: string
  /** JSON: all items before the answer. */
  input: string
  answer: string
  size_bytes: number
  created_at: Timestamp
  expires_at: RequiredTimestamp
}

/** One row per completion request that was begun. */
export interface CompletionUsageTable {
  id: Generated<string>
  request_id: string
  created_at: Timestamp
  api_key_id: string
  user_id: string
  project_id: string
  /** The model as the client named it. */
  model: string
  /** Resolved: null for a base model. */
  model_id: string | null
  step: number | null
  base_model: string
  input_tokens: number
  input_cached_tokens: number
  output_tokens: number
}

/** A call that the server is recording. */
export interface OpenCallTable {
  project_id: string
  call_id: string
}

/** Files a person uploaded, such as SFT data; content lies in the blob store. */
export interface UploadTable {
  id: Generated<string>
  /** Order of upload; two may share a clock reading. */
  sequence: Generated<number>
  entity_id: string
  filename: string
  sha256: string
  size_bytes: number
  purpose: string
  created_at: Timestamp
}

/** Trajectories that a client logged for a step (training-api 2.4); content lies in the blob store. */
export interface TrajectoryLogTable {
  id: Generated<string>
  model_id: string
  step: number
  split: string
  data_sha256: string
  size_bytes: number
  created_at: Timestamp
}

export interface QuotaDefaultTable {
  name: QuotaName
  value: number
}

export interface TeamQuotaTable {
  entity_id: string
  name: QuotaName
  value: number
}

export interface TeamUsageTable {
  entity_id: string
  stored_bytes: number
  /** When the stores were last asked; null: not yet. */
  measured_at: NullableTimestamp
}

export interface Catalog {
  entities: EntityTable
  users: UserTable
  memberships: MembershipTable
  project_roles: ProjectRoleTable
  call_retention: CallRetentionTable
  invitations: InvitationTable
  api_keys: ApiKeyTable
  audit_logs: AuditLogTable
  sessions: SessionTable
  sign_in_tokens: SignInTokenTable
  projects: ProjectTable
  all_projects: AnyProjectTable
  models: ModelTable
  checkpoints: CheckpointTable
  training_jobs: TrainingJobTable
  training_job_events: TrainingJobEventTable
  training_sources: TrainingSourceTable
  completion_usage: CompletionUsageTable
  stored_responses: StoredResponseTable
  rollouts: RolloutTable
  rollout_turns: RolloutTurnTable
  rollout_rewards: RolloutRewardTable
  open_calls: OpenCallTable
  uploads: UploadTable
  trajectory_logs: TrajectoryLogTable
  runs: RunTable
  run_files: RunFileTable
  run_alerts: RunAlertTable
  deleted_runs: DeletedRunTable
  artifact_collections: ArtifactCollectionTable
  artifacts: ArtifactTable
  artifact_clients: ArtifactClientTable
  artifact_manifests: ArtifactManifestTable
  artifact_entries: ArtifactEntryTable
  artifact_contents: ArtifactContentTable
  artifact_uploads: ArtifactUploadTable
  artifact_parts: ArtifactPartTable
  artifact_memberships: ArtifactMembershipTable
  artifact_aliases: ArtifactAliasTable
  artifact_runs: ArtifactRunTable
  object_versions: ObjectVersionTable
  object_tags: ObjectTagTable
  object_aliases: ObjectAliasTable
  project_files: ProjectFileTable
  dataset_sources: DatasetSourceTable
  execution_jobs: ExecutionJobTable
  scoring_rules: ScoringRuleTable
  scoring_items: ScoringItemTable
  scoring_positions: ScoringPositionTable
  quota_defaults: QuotaDefaultTable
  team_quotas: TeamQuotaTable
  team_usage: TeamUsageTable
  annotation_queues: AnnotationQueueTable
  annotation_items: AnnotationItemTable
  annotation_progress: AnnotationProgressTable
  annotation_history: AnnotationHistoryTable
  annotation_leases: AnnotationLeaseTable
  annotation_cursors: AnnotationCursorTable
  annotation_final_labels: AnnotationFinalLabelTable
}
