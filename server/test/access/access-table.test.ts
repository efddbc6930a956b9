/**
 * A caller of every role, and a key of every scope, asks every route, every field of GraphQL and every tool of agents
 * about a project of its own team, of another team, and of none. The measured answers are the table of
 * docs/reference/access.md, which `npx vitest run -u` writes.
 */
import { afterAll, beforeAll, expect, test } from "vitest"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import type { Access, Route } from "../../src/http/route.ts"
import type { RouteAccess } from "../../src/wire/platform/access.ts"
import { defaultLimits } from "../../src/limits.ts"
import { must, mustBody } from "../support/answers.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { graphqlFields } from "../support/isolation/graphql-fields.ts"
import { mcpTools } from "../support/isolation/mcp-tools.ts"
import { type RouteCase, type RouteRequest, routeRequests } from "../support/isolation/route-requests.ts"
import { type Sent, sendRequest } from "../support/isolation/send-request.ts"
import { allBlobs, stateOf } from "../support/isolation/team-state.ts"
import { fillTeam, type Handles, type TeamWorld } from "../support/isolation/team-world.ts"

/** Callers with the fewest rights come first, so that things which others delete are still there. */
const columns = [
  "viewer",
  "key: read",
  "annotator",
  "key: label",
  "key: ingest",
  "key: train",
  "service account",
  "member",
  "admin",
] as const
type Column = (typeof columns)[number]

/** A key for each column: of a user with that role in the team, or an administrator's key of that scope. */
let keys: Record<Column, string>
let opened: EvaluationApp
let red: TeamWorld

beforeAll(async () => {
  opened = await openEvaluationApp(
    { limits: { ...defaultLimits, sign_in_failures_per_minute: 10_000 } },
    new FakeEngine(),
  )
  red = await fillTeam(opened, opened.acme)
  keys = {
    viewer: await member("viewer"),
    annotator: await member("annotator"),
    member: await member("member"),
    admin: opened.acme.key,
    "service account": await serviceAccount(),
    "key: read": await scopedKey("read"),
    "key: label": await scopedKey("label"),
    "key: ingest": await scopedKey("ingest"),
    "key: train": await scopedKey("train"),
  }
  await must(opened.rival.post("/v1/projects", { entity: "rival", name: red.handles.project }))
}, 300_000)
afterAll(() => opened.close())

const newKey = (body: object) =>
  mustBody<{ value: string }>(opened.admin.post("/v1/organization/api_keys", { name: "k", ...body }))

async function member(role: string): Promise<string> {
  const username = `the-${role}`
  await must(opened.admin.post("/v1/organization/users", { username }))
  await must(opened.admin.post("/v1/organization/teams/acme/members", { username, role }))
  return (await newKey({ username })).value
}

async function serviceAccount(): Promise<string> {
  const made = opened.acme.post("/v1/organization/teams/acme/service_accounts", { name: "ci" })
  const { username } = await mustBody<{ username: string }>(made)
  expect(username).toBe("ci@acme")
  return (await mustBody<{ value: string }>(opened.acme.post("/v1/organization/api_keys", { name: "k", username })))
    .value
}

const scopedKey = async (scope: string) => (await newKey({ username: "acme", scope })).value

interface Row {
  name: string
  route: Route
  access: Access
  kind: RouteCase["kind"]
  make: (handles: Handles) => RouteRequest
}

/** Rows in the order of requests: reads first, deletions last, and inner things before the things that contain them. */
function rows(): Row[] {
  const order = (kind: RouteCase["kind"]) => ["read", "write", "delete", "erase"].indexOf(kind)
  return opened.app.routes
    .flatMap((route) => (isOfFields(route.access) ? fieldRows(route, route.access.fields) : [rowOf(route)]))
    .toSorted((one, two) => order(one.kind) - order(two.kind) || (one.kind === "delete" ? depth(two) - depth(one) : 0))
}

const depth = ({ route, access }: Row) => (isNamed(access) && access !== route.access ? 100 : route.path.length)

function rowOf(route: Route): Row {
  const name = `${route.method} ${route.path}`
  const { kind, make } = routeRequests[name] ?? expect.unreachable()
  return { name, route, access: route.access, kind, make }
}

function fieldRows(route: Route, fields: Readonly<Record<string, RouteAccess>>): Row[] {
  const asks = route.path === "/mcp" ? mcpTools : graphqlFields
  expect(Object.keys(fields).toSorted()).toEqual(Object.keys(asks).toSorted())
  return Object.entries(asks).map(([field, ask]) => ({
    name: `${route.path} ${field}`,
    route,
    access: fields[field] ?? expect.unreachable(),
    kind: ask(red.handles).kind,
    make: (handles) => ask(handles).request,
  }))
}

const isOfFields = (access: Access): access is { fields: Readonly<Record<string, RouteAccess>> } =>
  typeof access === "object" && "fields" in access
const isNamed = (access: Access): access is RouteAccess => typeof access === "object" && "right" in access

const ask = (column: Column, { route }: Row, request: RouteRequest) => sendRequest(opened, keys[column], route, request)

const refusals = /you may not \w+ in|this key has the scope|needs the key of an administrator/

/** True for a refusal. Its words decide too: a missing thing is 403 as well, and GraphQL and OTLP answer 200. */
const isRefused = ({ status, text }: Sent, { repeatsRequests }: Partial<RouteCase> = {}) =>
  (repeatsRequests !== true || status >= 400) && refusals.test(text)

/** Asks as every column; true for those that are let in. */
async function measured(row: Row): Promise<Record<Column, boolean>> {
  const cells: [Column, boolean][] = []
  for (const column of columns) {
    const answer = await ask(column, row, row.make(red.handles))
    expect([row.name, column, answer.status]).not.toEqual([row.name, column, 500])
    cells.push([column, !isRefused(answer, routeRequests[row.name])])
  }
  return Object.fromEntries(cells) as Record<Column, boolean>
}

/** The expected rights of each column, written without the code that decides them. */
const rightsOf: Record<Column, string> = {
  viewer: "read",
  "key: read": "read",
  annotator: "read label",
  "key: label": "read label",
  "key: ingest": "",
  "key: train": "read label",
  "service account": "read label write",
  member: "read label write",
  admin: "read label write manage",
}

function expected({ access }: Row): Record<Column, boolean> {
  const cells = columns.map((column): [Column, boolean] => {
    if (access === "public") return [column, true]
    if (!isNamed(access)) return [column, false]
    const { right, of, ingest = false, train = false } = access
    if (column === "key: ingest") return [column, ingest]
    if (column === "key: train" && train) return [column, true]
    // Every user changes their own account, and uploads files to it.
    const isOwn = of === "account" || of === "upload body.file"
    return [column, rightsOf[column].includes(right) || (isOwn && !column.startsWith("key"))]
  })
  return Object.fromEntries(cells) as Record<Column, boolean>
}

/**
 * Names of routes that change something but ask only for the right to read. Signing out may: it ends the caller's
 * session.
 */
const faults = (all: readonly Row[]): string[] =>
  all
    .filter(
      ({ name, kind, access }) =>
        kind !== "read" && isNamed(access) && access.right === "read" && name !== "DELETE /v1/session",
    )
    .map(({ name }) => name)

const table: { row: Row; cells: Record<Column, boolean> }[] = []

test("a route that changes something asks for more than the right to read", () => {
  expect(faults(rows())).toEqual([])
})

test("every request of the table names a thing of the team at the place that its route checks", () => {
  const known = [...Object.values(red.handles), "heddle/tiny"]
  const wrong = rows().flatMap((row) => {
    const place = isNamed(row.access)
      ? /^[a-z ]+? (?=(?:path|query|body|header)\.)(.+)$/.exec(row.access.of)?.[1]
      : undefined
    // Places of names in several parts, and of names that are new.
    if (place === undefined || /resource|variables|body\.file$/.test(place)) return []
    const values = valuesAt(row.make(red.handles), place)
    return values.length > 0 && values.every((value) => known.some((one) => value.includes(one)))
      ? []
      : [`${row.name}: ${place}`]
  })
  expect(wrong).toEqual([])
})

/** Texts of a request at a place such as `body.batch[].req.start.project_id` or `path.entity/project`. */
function valuesAt({ params = {}, query = {}, body, form, headers = {} }: RouteRequest, place: string): string[] {
  const [source = "", ...steps] = place.split(".")
  const from = { path: params, query, body: body ?? form, header: headers }[source]
  const valuesIn = (values: unknown[], step: string): unknown[] =>
    step.endsWith("[]")
      ? valuesIn(values, step.slice(0, -2)).flat()
      : values.flatMap((value) => (value as Record<string, unknown> | undefined)?.[step] ?? [])
  const last = steps.at(-1) ?? ""
  const owners = steps.slice(0, -1).reduce(valuesIn, [from])
  return last.split("/").flatMap((name) => valuesIn(owners, name).flat().map(String))
}

test(
  "security 5.3: in every role, another team's project gets the answer of a project that is not there",
  { timeout: 300_000 },
  async () => {
    const { handles } = red
    const of = (entity: string, project: string): Handles => ({
      ...handles,
      entity,
      project,
      projectId: `${entity}/${project}`,
    })
    const told: string[] = []
    let asked = 0
    for (const row of rows()) {
      const uses = JSON.stringify(row.make(of("rival", handles.project)))
      if (uses === JSON.stringify(row.make(handles)) || !isNamed(row.access)) continue
      for (const column of ["viewer", "member", "key: ingest"] as const) {
        asked += 2
        const there = await ask(column, row, row.make(of("rival", handles.project)))
        const nowhere = await ask(column, row, row.make(of("none", "nowhere")))
        const words = ({ status, text }: Sent) =>
          `${status} ${text
            .replaceAll("none/nowhere", `rival/${handles.project}`)
            .replaceAll("nowhere", handles.project)
            .replaceAll(/\bnone\b/g, "rival")
            .replaceAll(/[\d-]+/g, "0")}`
        if (there.status >= 400 ? words(there) !== words(nowhere) : there.status !== nowhere.status)
          told.push(`${row.name} ${column}: ${words(there).slice(0, 200)} | ${words(nowhere).slice(0, 200)}`)
      }
    }
    expect(told).toEqual([])
    expect(asked).toBeGreaterThan(500)
  },
)

test(
  "a caller who may only read changes nothing, and one who may only label changes nothing but labels",
  { timeout: 300_000 },
  async () => {
    const blobs = await allBlobs(opened)
    const changedBy = async (who: readonly Column[]) => {
      const before = await stateOf(opened, red.handles, blobs)
      for (const row of rows()) {
        for (const column of who) await ask(column, row, row.make(red.handles))
      }
      const after = await stateOf(opened, red.handles, blobs)
      // Counts of the team's quotas are stored some time after the things that they count.
      return Object.keys(before).filter((part) => before[part] !== after[part] && part !== "catalog team_usage")
    }
    expect(await changedBy(["viewer", "key: read"])).toEqual([])
    const byLabelling = await changedBy(["annotator", "key: label"])
    expect(byLabelling).toContain("traces feedback")
    const labels = /^(?:traces feedback|catalog annotation_\w+|catalog rollouts|catalog rollout_rewards)$/
    expect(byLabelling.filter((part) => !labels.test(part))).toEqual([])
  },
)

test("planted: a deleting route that asks only for the right to read is found, and lets a viewer delete", async () => {
  const row = rows().find(({ name }) => name === "POST /obj/delete") ?? expect.unreachable()
  const access = row.access as { right: string }
  const object = { project_id: red.handles.projectId, object_id: "planted", val: 1 }
  const { digest } = await mustBody<{ digest: string }>(opened.acme.post("/obj/create", { obj: object }))
  const own = { body: { project_id: object.project_id, object_id: "planted", digests: [digest] } }
  expect(isRefused(await ask("viewer", row, own))).toBe(true)
  access.right = "read"
  try {
    expect(faults(rows())).toEqual(["POST /obj/delete"])
    expect((await ask("viewer", row, own)).status).toBe(200)
  } finally {
    access.right = "write"
  }
})

/** Classes of objects by which the server acts, and what is between each and `Object`. */
const actingClasses: [leaf: string, between: string[]][] = [
  ["Monitor", []],
  ["ClassifierMonitor", ["Monitor"]],
  ["Provider", []],
  ["ProviderModel", []],
  ["LLMStructuredCompletionModel", ["Model"]],
  ["LLMAsAJudgeScorer", ["Scorer"]],
  ["ActionSpec", []],
]

test("evaluation-store-objects 3.1: through no route does a key for ingest change by what the server acts", async () => {
  const { projectId: project_id } = red.handles
  const creating = rows().find(({ name }) => name === "POST /obj/create") ?? expect.unreachable()
  const publish = (column: Column, object_id: string, val: object, builtin_object_class?: string) =>
    ask(column, creating, { body: { obj: { project_id, object_id, val, builtin_object_class } } })
  const instance = (leaf: string, between: readonly string[]) => ({
    _type: leaf,
    _class_name: leaf,
    _bases: [...between, "Object", "BaseModel"],
    name: "x",
  })
  const acting = actingClasses.map(([leaf, between]) => ({
    leaf,
    taken: `acting-${leaf.toLowerCase()}`,
    val: instance(leaf, between),
    own: instance("Own", between[0] === undefined ? [leaf] : between),
  }))
  const classRefs: string[] = []
  for (const { leaf, taken, val } of acting) {
    const { status, text } = await publish("member", taken, val)
    expect([leaf, status]).toEqual([leaf, 200])
    const { digest } = JSON.parse(text) as { digest: string }
    classRefs.push(`weave:///${project_id}/object/${taken}:${digest}/attr/_class_name`)
  }
  const state = async () => {
    const leaf_object_classes = actingClasses.map(([leaf]) => leaf)
    const objects = await mustBody<{ objs: object[] }>(
      opened.acme.post("/objs/query", { project_id, filter: { leaf_object_classes } }),
    )
    return [objects.objs, await mustBody<object>(opened.acme.post("/scoring_rules/query", { project_id }))] as const
  }
  const before = await state()
  expect(before[0].length).toBeGreaterThanOrEqual(acting.length)

  const refused = [403, expect.stringMatching(/the scope ingest, which .* use a key of the scope all/)]
  for (const [at, { leaf, taken, val, own }] of acting.entries()) {
    const changed = { ...val, active: true, description: "changed" }
    const ways: Record<string, ReturnType<typeof publish>> = {
      "the latest version again": publish("key: ingest", taken, val),
      "a next version": publish("key: ingest", taken, changed),
      "under a new name": publish("key: ingest", `new-${leaf}`, changed),
      "its class as a ref": publish("key: ingest", `new-${leaf}`, { ...changed, _class_name: classRefs[at] }),
      "a version of another class in its place": publish("key: ingest", taken, own),
    }
    for (const [way, sent] of Object.entries(ways)) {
      const { status, text } = await sent
      expect([leaf, way, status, text]).toEqual([leaf, way, ...refused])
    }
  }
  const provider = { name: "new", base_url: "https://elsewhere.example/v1", api_key_name: "" }
  const { status, text } = await publish("key: ingest", "new-provider", provider, "Provider")
  expect([status, text]).toEqual(refused)
  for (const row of rows().filter(({ access }) => isNamed(access) && access.ingest === true)) {
    for (const { taken } of acting) {
      const names = { objectId: taken, modelObjectId: taken, scorerId: taken, datasetId: taken, evaluationId: taken }
      await ask("key: ingest", row, row.make({ ...red.handles, ...names }))
    }
  }
  expect(await state()).toEqual(before)
})

test("every route lets in the roles and scopes that it should", { timeout: 300_000 }, async () => {
  for (const row of rows()) table.push({ row, cells: await measured(row) })
  const wrong = table.flatMap(({ row, cells }) =>
    columns
      .filter((column) => cells[column] !== expected(row)[column])
      .map((column) => `${row.name}: ${column} ${String(cells[column])}`),
  )
  expect(wrong).toEqual([])
})

test("docs/reference/access.md is the table that was measured", async () => {
  await expect(page()).toMatchFileSnapshot("../../../docs/reference/access.md")
})

function page(): string {
  const shown = columns.toReversed()
  const cell = (isLetIn: boolean) => (isLetIn ? "yes" : "·")
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`
  const lines = table
    .toSorted((one, two) => (one.row.name < two.row.name ? -1 : 1))
    .map(({ row: { name, access }, cells }) => {
      const needs = isNamed(access)
        ? [access.right, `\`${access.of}\``]
        : [access === "public" ? "public" : "server", ""]
      return line([`\`${name}\``, ...needs, ...shown.map((column) => cell(cells[column]))])
    })
  return `# Who may call what

Measured by \`server/test/access/access-table.test.ts\`, which asks every route, every field of GraphQL and every tool of agents, in every role and with a
key of every scope; \`npx vitest run server/test/access/access-table.test.ts -u\` writes this page. What roles and scopes are says
[Users, teams and keys](../guide/accounts.md).

A cell says whether the caller is let in when the thing is the own team's; what is another team's is answered as what is not
there, in every role. "About" is what the right is for and where a request names it. \`public\` needs no key, \`server\` an
administrator of the server. A role in a project takes the place of the role in its team.

${line(["Route", "Right", "About", ...shown])}
${line(["---", "---", "---", ...shown.map(() => "---")])}
${lines.join("\n")}
`
}
