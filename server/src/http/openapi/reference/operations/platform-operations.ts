import type { Operations } from "../operation.ts"

/** Headers that the browser and the script of this server's own page send. */
const ofOwnPage = { "x-heddle-csrf": "1", "sec-fetch-site": "same-origin" }

export const platformOperations: Operations = {
  "POST /v1/files": {
    description: "The answer's id goes into `training_data_url` of a job.",
    example: () => ({
      form: {
        purpose: "fine-tune",
        file: '{"messages": [{"role": "user", "content": "4+5="}, {"role": "assistant", "content": "9"}]}',
      },
    }),
  },
  "GET /v1/files": { description: "Your own.", example: () => ({ query: { limit: "20" } }) },
  "GET /v1/files/:file_id": {
    description: "Returns the file's name, its size and when it came.",
    example: ({ uploadId: file_id }) => ({ params: { file_id } }),
  },
  "GET /v1/files/:file_id/content": {
    description: "Returns the bytes as they were sent.",
    example: ({ uploadId: file_id }) => ({ params: { file_id } }),
  },
  "DELETE /v1/files/:file_id": {
    description: "Jobs keep a copy of their own.",
    example: ({ uploadId: file_id }) => ({ params: { file_id } }),
  },
  "POST /project/stats": {
    description: "Returns the bytes of calls, objects, tables and files, each by itself.",
    example: ({ projectId: project_id }) => ({ body: { project_id } }),
  },
  "POST /project/ttl_settings/read": {
    description: "`expire_at` of each call says when it is deleted.",
    example: ({ projectId: project_id }) => ({ body: { project_id } }),
  },
  "POST /project/ttl_settings/update": {
    description:
      "A call is deleted that many days after its start, with its payloads, as if `/calls/delete` had named it. The server looks for such calls when it starts, and once a day. A change applies to all calls of the project; what was deleted does not come back.",
    example: ({ projectId: project_id }) => ({ body: { project_id, retention_days: 90 } }),
  },
  "POST /project/ingest_sampling_settings/read": {
    description: "For clients that ask: the answer is always the same.",
    example: ({ projectId: project_id }) => ({ body: { project_id } }),
  },
  "GET /project/sensitive_data_settings": {
    description: "For clients that ask: the answer is always the same.",
    example: ({ projectId: project_id }) => ({ query: { project_id } }),
  },
  "GET /v1/projects": {
    description: "A project is made by the first thing that is stored in it, or by itself.",
    example: ({ entity }) => ({ query: { entity, query: "demo" } }),
  },
  "POST /v1/projects": {
    description: "Nothing needs it: a project is also made by the first thing that is stored in it.",
    example: ({ entity, project: name }) => ({ body: { entity, name } }),
  },
  "DELETE /v1/projects/:entity/:project": {
    description:
      "The project is out of sight when this answers, its jobs are cancelled, and the name is free for a new one; the disk follows in the background. Members of the team may, and administrators. Uploads to `/v1/files` belong to the team and stay.",
    example: ({ entity, project }) => ({ params: { entity, project } }),
  },
  "GET /server_info": { description: "What the Weave SDKs ask before they sign in." },
  "GET /version": { description: "As the CHANGELOG counts." },
  "POST /service/projects_info": {
    description: "Refs inside stored payloads name projects by these ids.",
    example: ({ projectId }) => ({ body: { project_ids: [projectId] } }),
  },
  "GET /metrics": { description: "In the text format of Prometheus. With `HEDDLE_METRICS=open` it needs no key." },
  "POST /files/:entity/:project/:run/file_stream": {
    description:
      "Lines have numbers, so what is sent again is stored once. An empty body is a sign of life; `exitcode` ends the run.",
    example: ({ entity, project, wandbRunName: run }) => ({
      params: { entity, project, run },
      body: { files: { "wandb-history.jsonl": { offset: 0, content: ['{"_step": 0, "loss": 0.5}'] } } },
    }),
  },
  "GET /files/:entity/:project/:run/*": {
    description: "The file is one of wandb's, such as `wandb-metadata.json`, or one that the program saved.",
    example: ({ entity, project, wandbRunName: run, wandbFile }) => ({
      params: { entity, project, run, "*": wandbFile },
    }),
  },
  "GET /v1/runs/:entity/:project/:run/metrics": {
    description:
      "Curves of what the program logged, or of what the client measured of the machine (`source=system`). With more steps than `points`, a point stands for several and keeps their lowest and highest value; NaN and the infinities are left out.",
    example: ({ entity, project, wandbRunName: run }) => ({
      params: { entity, project, run },
      query: { metric: "loss" },
    }),
  },
  "PUT /files/upload/:token": {
    description: "The address is the key: it stores one file of one run and is valid for an hour.",
    example: () => ({ params: { token: "WyJhY21lIl0.c2lnbmF0dXJl" }, text: "the file" }),
  },
  "GET /files/direct/:token": {
    description: "The address is the key: it fetches one file of one run and is valid for an hour.",
    example: () => ({ params: { token: "WyJhY21lIl0.c2lnbmF0dXJl" } }),
  },
  "PUT /artifactsV2/upload/:token": {
    description: "The address is the key: it stores one content of one artifact and is valid for twelve hours.",
    example: () => ({ params: { token: "WyJhY21lIl0.c2lnbmF0dXJl" }, text: "the file" }),
  },
  "GET /artifactsV2/direct/:token": {
    description: "The address is the key: it fetches one file of one artifact and is valid for twelve hours.",
    example: () => ({ params: { token: "WyJhY21lIl0.c2lnbmF0dXJl" } }),
  },
  "GET /artifactsV2/:region/:entity/:birth/:digest": {
    description: "The `wandb` client asks this when an address is no longer valid; `birth` is the id of the version.",
    example: ({ entity, wandbArtifactId: birth, wandbDigest: digest }) => ({
      params: { region: "default", entity, birth, digest },
    }),
  },
  "GET /artifactsV2/:region/:entity/:project/:collection/:birth/:digest/:file": {
    description: "The same from newer clients; project, collection and file say nothing more.",
    example: ({ entity, project, wandbCollection: collection, wandbArtifactId: birth, wandbDigest: digest }) => ({
      params: { region: "default", entity, project, collection, birth, digest, file: "train.jsonl" },
    }),
  },
  "GET /artifactsV2/:region/:entity/:project/:collection/:artifact/:birth/:digest/:file": {
    description: "The same from newer clients; project, collection, artifact and file say nothing more.",
    example: ({ entity, project, wandbCollection: collection, wandbArtifactId: birth, wandbDigest: digest }) => ({
      params: { region: "default", entity, project, collection, artifact: birth, birth, digest, file: "train.jsonl" },
    }),
  },
  "POST /graphql": {
    description: "What the `wandb` and `weave` clients ask to sign in, to keep runs and to log artifacts.",
    example: ({ entity, project }) => ({
      body: {
        query:
          "query($entity: String, $project: String) { viewer { username } project(entityName: $entity, name: $project) { id } }",
        variables: { entity, project },
      },
    }),
  },
  "POST /mcp": {
    description:
      "Streamable HTTP without sessions: one JSON-RPC message, answered in JSON; a notification is answered 202. The header `Accept` " +
      "names `application/json` and `text/event-stream`, as every client of the protocol sends it. A tool asks other routes with " +
      "the key of the request, and each of them counts as a request of the key.",
    example: ({ projectId: project }) => ({
      headers: { accept: "application/json, text/event-stream" },
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "search_calls", arguments: { project, limit: 5 } },
      },
    }),
  },
  "GET /v1/refused-requests": {
    description: "Why a client does not get in: the status, the code and the message of each refusal.",
  },
  "POST /v1/organization/api_keys": {
    description:
      "Keep `value`: the server stores only its hash. `scope` narrows what the user may do, and never widens it.",
    example: ({ username }) => ({ body: { name: "laptop", username, scope: "read" } }),
  },
  "GET /v1/organization/api_keys": {
    description:
      "Lists your own keys and those of service accounts of teams that you administer; for an administrator of the server, everybody's. The keys themselves are not shown.",
  },
  "DELETE /v1/organization/api_keys/:api_key_id": {
    description: "The next request with it is answered 401.",
    example: ({ apiKeyId: api_key_id }) => ({ params: { api_key_id } }),
  },
  "GET /v1/organization/me": { description: "The user, and the entities whose projects the key may use." },
  "POST /v1/organization/users": {
    description: "Then make a key for the user with `/v1/organization/api_keys`.",
    example: () => ({ body: { username: "grace" } }),
  },
  "GET /v1/organization/users": { description: "All of the server, disabled ones too." },
  "POST /v1/organization/users/:username": {
    description: "What the user stored stays.",
    example: ({ username }) => ({ params: { username }, body: { disabled: false } }),
  },
  "DELETE /v1/organization/users/:username": {
    description:
      "For somebody who left. What the user stored stays and names them, so the name is not free again; enabling the user later gives back no team and no key.",
    example: ({ username }) => ({ params: { username } }),
  },
  "GET /v1/organization/teams": { description: "Entities that users have by their own name are not in the list." },
  "GET /v1/organization/teams/:team/members": {
    description: "Lists disabled users too.",
    example: ({ entity: team }) => ({ params: { team } }),
  },
  "POST /v1/organization/teams": {
    description: "Its other members are let in one by one.",
    example: () => ({ body: { name: "research" } }),
  },
  "POST /v1/organization/teams/:team/members": {
    description:
      "`role` says what the user may do there; without it `member`. An administrator of the team invites instead, as names of users are not shown to other teams.",
    example: ({ entity: team, username }) => ({ params: { team }, body: { username, role: "viewer" } }),
  },
  "POST /v1/organization/teams/:team/members/:username": {
    description: "It applies from the next request on. A role that the member has in one project stays.",
    example: ({ entity: team, username }) => ({ params: { team, username }, body: { role: "annotator" } }),
  },
  "POST /v1/organization/teams/:team/service_accounts": {
    description:
      "Its name is `<name>@<team>`. Make a key for it with `/v1/organization/api_keys`; it is listed among the members, and removed as one.",
    example: ({ entity: team }) => ({ params: { team }, body: { name: "ci" } }),
  },
  "POST /v1/organization/teams/:team/invitations": {
    description:
      "Send `token` to one person: `/v1/sign-up` makes a user with it, and a user joins with `/v1/organization/invitations/accept`.",
    example: ({ entity: team }) => ({ params: { team }, body: { role: "annotator" } }),
  },
  "GET /v1/organization/teams/:team/invitations": {
    description: "Accepted, ended and expired ones are not in the list. Tokens are not shown.",
    example: ({ entity: team }) => ({ params: { team } }),
  },
  "DELETE /v1/organization/teams/:team/invitations/:invitation_id": {
    description: "Its token lets nobody in any more.",
    example: ({ entity: team, invitationId: invitation_id }) => ({ params: { team, invitation_id } }),
  },
  "POST /v1/organization/invitations/accept": {
    description:
      "A token that was accepted, has ended or was never made is 401. Somebody who is in the team already keeps the role there.",
    example: () => ({ body: { token: "the-token-of-the-invitation" } }),
  },
  "POST /v1/sign-up": {
    description:
      "Needs no key: the token is the permission. Keep `api_key.value`, which is shown only now. A username that is taken is 422, and the token stays good.",
    example: () => ({ body: { token: "the-token-of-the-invitation", username: "grace" } }),
  },
  "GET /v1/projects/:entity/:project/roles": {
    description: "Lists every member of the team, with the role that applies in the project.",
    example: ({ entity, project }) => ({ params: { entity, project } }),
  },
  "PUT /v1/projects/:entity/:project/roles/:username": {
    description:
      "It may be more or less than the role in the team. Somebody who is no member of the team gets no role.",
    example: ({ entity, project, username }) => ({ params: { entity, project, username }, body: { role: "viewer" } }),
  },
  "DELETE /v1/projects/:entity/:project/roles/:username": {
    description: "Leaving the team ends the role too.",
    example: ({ entity, project, username }) => ({ params: { entity, project, username } }),
  },
  "DELETE /v1/organization/teams/:team/members/:username": {
    description: "What the user stored there stays the team's.",
    example: ({ entity: team, username }) => ({ params: { team, username } }),
  },
  "GET /v1/organization/audit_logs": {
    description: "The record cannot be changed through the API.",
    example: ({ entity }) => ({ query: { "teams[]": entity, "event_types[]": "model.deleted" } }),
  },
  "POST /v1/organization/backups": {
    description:
      "Answered when the backup is whole and on the disk; requests are served meanwhile. It is a data folder: a server starts on a copy of it.",
  },
  "GET /v1/organization/backups": { description: "One that is being made is not among them." },
  "DELETE /v1/organization/backups/:name": {
    description: "Its files are removed; those that the data folder or other backups share stay there.",
    example: () => ({ params: { name: "20260131T235959123Z" } }),
  },
  "GET /v1/organization/quotas": { description: "Of each team that you are a member of." },
  "GET /v1/organization/teams/:team/quotas": {
    description: "`left` is what the team may still store or make.",
    example: ({ entity: team }) => ({ params: { team } }),
  },
  "POST /v1/organization/teams/:team/quotas": {
    description: "Fields that are left out stay as they are.",
    example: ({ entity: team }) => ({ params: { team }, body: { models: 50 } }),
  },
  "POST /v1/session": {
    description:
      "For pages. The request needs the header `x-heddle-csrf: 1`, which only pages of this server can send.",
    example: () => ({ headers: ofOwnPage, body: { api_key: "the-key-of-the-user" } }),
  },
  "POST /v1/session/token": {
    description: "For pages, as `/v1/session`. The token is in the link that `/v1/sign-in-links` gave.",
    example: () => ({ headers: ofOwnPage, body: { token: "the-token-of-the-link" } }),
  },
  "GET /v1/session": { description: "With a key, `session` is null." },
  "DELETE /v1/session": { description: "Only a request that comes with the session's cookie has one to end." },
  "GET /v1/sessions": { description: "With the browser, and when each was used last." },
  "DELETE /v1/sessions/:session_id": {
    description: "The browser's next request is answered 401.",
    example: ({ sessionId: session_id }) => ({ params: { session_id } }),
  },
  "POST /v1/sign-in-links": {
    description: "Open the answer's `path` in the browser. Good once, and for a short time.",
  },
}
