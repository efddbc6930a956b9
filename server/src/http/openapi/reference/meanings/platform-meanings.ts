/** Accounts, sessions, runs and running the server. */
import type { Meanings } from "./meanings.ts"

export const platformMeanings: Meanings = {
  requests: {
    api_key_id: "Id of a key.",
    invitation_id: "Id of an invitation.",
    api_key: "A key, whose rights the session gets.",
    token: "The token, as it was given out.",
    session_id: "Id of a session.",
    disabled: "true: the user's keys are refused.",
    variables: "Values of the document's variables.",
    operationName: "Which operation of the document.",
    "event_types[]": "Kinds of changes, such as `api_key.created`.",
    "actor_ids[]": "Ids of users who made the changes.",
    "resource_ids[]": "Ids of what was changed.",
    "teams[]": "Names of teams.",
    "effective_at[gte]": "Unix seconds, the first that count.",
    "effective_at[gt]": "Unix seconds, before the first that count.",
    "effective_at[lte]": "Unix seconds, the last that count.",
    "effective_at[lt]": "Unix seconds, after the last that count.",
  },
  answers: {
    external_project_id: "The project, as `entity/project`.",
    internal_project_id: "Id that stands for the project in refs inside stored payloads.",
    disabled: "true: the user's keys are refused.",
    user_agent: "What the client calls itself, as its `User-Agent` says.",
  },
  schemas: {
    "ApiKey, CreatedApiKey": {
      username: "User whose key it is.",
      scope:
        "What the key may be used for at most: `all`; `ingest`, sending what a program logs; `read`; `label`, reading and labelling; `train`, that and training.",
      redacted_value: "`…` and the last four characters of the key.",
      expires_at: "When the key ends; null: not before it is revoked.",
      last_used_at: "When a request last came with the key, to the minute; null: never.",
    },
    AuditLog: {
      type: "What was done; what it was done to stands under a field of this name.",
      effective_at: "When it was done, in Unix seconds.",
      outcome:
        "`succeeded` or `failed`; `begun` stands before a change outside of the catalog, whose end is an entry of its own.",
      actor: "Who did it: a user by a key, or the server itself.",
      request_id: "Request that did it, as in the answer's `x-request-id`; null: the server did it.",
      team: "Team or user whose things it was done to; null: it belongs to none.",
    },
    "AuditLog.actor": {
      type: "`api_key`: a user by a key; `server`: the server itself.",
      api_key: "The key that the request came with.",
    },
    "AuditLog.actor.api_key": { user: "The user whose key it is." },
    AuditLogPage: {
      first_id: "Id of the first item of `data`; null without items.",
      last_id: "Id of the last item of `data`, for `after` of the next page; null without items.",
    },
    Backup: {
      name: "When it was made, to the millisecond; its folder has this name.",
      created_at: "When it was made: what was stored before is in it.",
      bytes: "Bytes of its files. Those that it shares with the data folder or other backups count in each.",
      seconds: "How long it took.",
    },
    BackupParams: { name: "Name of a backup, as the list has it." },
    CreateApiKeyBody: {
      name: "What the key is for, such as `laptop`.",
      username:
        "User whose key it will be; absent: your own. An administrator of a team makes keys for its service accounts, one of the server for everybody.",
      scope:
        "What the key may be used for at most: `all`; `ingest`, sending what a program logs; `read`; `label`, reading and labelling; `train`, that and training.",
      expires_at: "When the key ends, ISO 8601; absent: not before it is revoked.",
    },
    "AddMemberBody, UpdateMemberBody": {
      role: "`admin` decides about members and invitations, `member` reads and writes, `annotator` reads and labels, `viewer` reads.",
    },
    CreateInvitationBody: {
      role: "What the invited person will be in the team.",
      expires_at: "When the invitation ends, ISO 8601; absent: in a week.",
    },
    "CreatedInvitation, Invitation": {
      team: "Name of the team.",
      role: "What the invited person will be in the team.",
      invited_by: "User who invites.",
      expires_at: "When the invitation ends.",
    },
    CreatedInvitation: { token: "Lets one person in; shown only in this answer." },
    ProjectRole: {
      role: "What counts in the project.",
      team_role: "What the member is in the team; it counts in each project that gives the member no other role.",
    },
    ProjectRoleBody: { role: "What the member is to be in the project." },
    SignedUp: { user: "The new user.", api_key: "A key of the new user." },
    Team: { role: "What you are in the team; null: an administrator of the server who is not in it." },
    TeamMember: { role: "What the member is in the team." },
    CreateProjectBody: { name: "Name of the project, one in its entity." },
    CreateTeamBody: { name: "Name of the team, which no user or team has yet." },
    CreateUserBody: { teams: "Teams to join; they must exist." },
    "CreateUserBody, User": { is_admin: "Whether the user may make users and teams, and see what the server does." },
    CreatedApiKey: { value: "The key itself, which is shown only in this answer." },
    CurrentSession: {
      user: "Who asks.",
      session: "Session that the request came with; null: it came with a key.",
      projects: "Projects that were used last, at most 100; `GET /v1/projects` lists all.",
    },
    FileStreamBody: {
      uploaded: "Names of files that were stored; taken, and not used.",
      preempting: "true: the machine is about to be taken from the run.",
      exitcode: "Exit status of the program; 0 means that it succeeded.",
    },
    "FileStreamBody.files": { offset: "Number of the first line, from 0.", content: "The lines." },
    RunMetricsAnswer: {
      metrics: "Names of everything that was a number once, sorted.",
      media: "Pictures, tables, histograms and other objects with a `_type`, by name; `sampledHistory` reads them.",
    },
    "RunMetricsAnswer.media": { type: "The newest `_type` under the name, such as `image-file`." },
    GraphqlAnswer: {
      data: "What was asked for; null: it could not be answered.",
      errors: "What went wrong; absent: nothing.",
    },
    "GraphqlAnswer.errors": { message: "What went wrong, in words." },
    GraphqlBody: { query: "A GraphQL document." },
    "McpMessage, McpAnswer": { jsonrpc: "Version of JSON-RPC." },
    McpMessage: {
      method: "What is asked, such as `tools/list` or `tools/call`.",
      params: "Its parameters, as the protocol has them: of `tools/call` the `name` of the tool and its `arguments`.",
    },
    McpAnswer: {
      result: "What was asked for; of a tool `content`, `structuredContent` and, where it failed, `isError`.",
      error: "Why there is no result.",
    },
    "McpAnswer.error": {
      code: "Number of the error, as JSON-RPC has it.",
      message: "What is wrong and the way out, in words.",
    },
    "LogsAnswer, TraceAnswer": { partialSuccess: "What was not stored; absent: everything was." },
    "LogsAnswer.partialSuccess": { rejectedLogRecords: "How many log records were not stored." },
    "LogsAnswer.partialSuccess, TraceAnswer.partialSuccess": { errorMessage: "Why, in words." },
    "LogsRequest.resourceLogs, TraceRequest.resourceSpans": {
      resource: "What made them; `wandb.entity` and `wandb.project` among its attributes may name the project.",
    },
    ProjectsQuery: { query: "Occurs in the project's name." },
    Quota: {
      name: "What is limited.",
      limit: "How much the team may hold; of `requests_per_minute`, how many requests each key may send.",
      used: "How much the team holds; of `requests_per_minute`, what the key of this request has used. null: the key is another team's.",
      left: "How much is left of the limit; null where `used` is.",
      is_default: "true: the limit is the one of every team that has none of its own.",
    },
    RefusedRequest: {
      id: "Id of the request, as in the answer's `x-request-id`.",
      time: "When it was refused.",
      method: "Method of the request.",
      path: "Path of the request, without its query.",
      status: "HTTP status of the answer.",
      code: "Code of the error.",
      message: "What the answer said.",
      is_authenticated: "false: it brought no key, or one that is not known.",
    },
    Remapped: { remapped: "How many calls were written anew from their spans." },
    RunFileStored: { bytes: "Bytes that were stored." },
    ServerInfo: {
      min_required_weave_python_version: "The oldest `weave` for Python that may connect.",
      trace_server_version: "Version of this server.",
    },
    Session: {
      last_used_at: "When a request last came with the session.",
      expires_at: "When the session ends if it is not used.",
      is_current: "Whether this request comes with the session.",
    },
    SignInLink: {
      token: "Good for one session.",
      path: "Path of the page that takes the token, which stands behind the `#`.",
      expires_at: "When the token ends.",
    },
    TeamQuotas: { team: "Name of the team.", quotas: "What the team may hold, each thing by itself." },
    "TraceAnswer.partialSuccess": { rejectedSpans: "How many spans were not stored." },
    UpdateQuotasBody: {
      api_keys: "How many keys; null: the default.",
      models: "How many models; null: the default.",
      open_jobs: "How many jobs may be queued or run; null: the default.",
      projects: "How many projects; null: the default.",
      requests_per_minute: "Requests of each key in a minute; null: the default.",
      stored_bytes: "Bytes that the team may store; null: the default.",
    },
    User: {
      default_entity: "Entity that is meant where a request names none.",
      entities: "Every entity whose projects the user may use.",
    },
    VersionAnswer: { version: "Version of this server." },
  },
}
