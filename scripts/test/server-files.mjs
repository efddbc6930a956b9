/**
 * Which tests of the server run on which stores. A test runs on both kinds, embedded and grown (PostgreSQL and
 * ClickHouse's protocol), unless it stands here: then its subject is something that no statement to a store changes, or
 * other tests drive the same statements on both. server-files.test.mjs checks that nothing is left out, and that each
 * folder of statements is driven on both.
 */
import { readFileSync } from "node:fs"
import { fromRoot } from "../setup/paths.mjs"

/** Patterns of tests that run once, on the embedded stores, by what they are about instead of a store. */
const onEmbeddedBy = {
  "the engine's process and its Python": [
    "server/test/engines/**",
    "server/test/training/base-models.test.ts",
    "server/test/training/base-models-hub.test.ts",
    "server/test/training/checkpoint-files.test.ts",
    "server/test/training/export-refusals.test.ts",
    "server/test/training/exports.test.ts",
    "server/test/training/from-engine.test.ts",
    "server/test/training/imports.test.ts",
    "server/test/training/loss-types.test.ts",
    "server/test/training/mixtures.test.ts",
    "server/test/training/optimizer-states.test.ts",
    "server/test/training/pause-engine.test.ts",
    "server/test/training/peft.test.ts",
    "server/test/training/trainers.test.ts",
    "server/test/training/wholes.test.ts",
    "server/test/inference/rollouts-gradient.test.ts",
    "server/test/inference/scoring.test.ts",
  ],
  "the wire of chats, which other tests store": [
    "server/test/inference/broken-answers.test.ts",
    "server/test/inference/chat.test.ts",
    "server/test/inference/choice-shares.test.ts",
    "server/test/inference/disconnects.test.ts",
    "server/test/inference/limits.test.ts",
    "server/test/inference/messages.test.ts",
    "server/test/inference/protocols.test.ts",
    "server/test/inference/stream.test.ts",
  ],
  "HTTP, its connections and documents": [
    "server/test/documents/**",
    "server/test/http/attacks.test.ts",
    "server/test/http/documented-examples.test.ts",
    "server/test/http/drain.test.ts",
    "server/test/http/hostile-requests.test.ts",
    "server/test/http/killed-connections.test.ts",
    "server/test/http/openapi-document.test.ts",
    "server/test/http/pages.test.ts",
    "server/test/http/request-log.test.ts",
    "server/test/mcp/protocol.test.ts",
    "server/test/training/event-stream.test.ts",
  ],
  "outside servers that are called": ["server/test/evaluations/execution-providers.test.ts"],
  "work beside the event loop": [
    "server/test/calls/otel-mapping.test.ts",
    "server/test/calls/otel-remap-large.test.ts",
  ],
  "the start of a server, its settings and the files of its data folder": [
    "server/test/http/start.test.ts",
    "server/test/platform/admin-key.test.ts",
    "server/test/storage/backups.test.ts",
    "server/test/storage/file-modes.test.ts",
    "server/test/storage/first-start.test.ts",
    "server/test/storage/full-disk.test.ts",
  ],
}

/** Files whose statements to stores others reach too: `node scripts/choose-store-tests.mjs` measures and writes them. */
export const drivenElsewherePath = fromRoot("scripts", "test", "driven-elsewhere.json")
export const drivenElsewhere = JSON.parse(readFileSync(drivenElsewherePath, "utf8"))

export const onEmbedded = [...Object.values(onEmbeddedBy).flat(), ...drivenElsewhere]

/** Tests that ask every route thousands of times who may use it. The rules are the same on all stores: they run once. */
export const onGrown = ["server/test/access/access-table.test.ts", "server/test/access/isolation.test.ts"]

/** Whether a test asks for the servers of PostgreSQL or ClickHouse by itself: some of its tests need them. */
export const asksForStores = (file) =>
  /newPostgresUrl|newClickHouseUrl|HEDDLE_TEST_(POSTGRES|CLICKHOUSE)_URL/.test(readFileSync(fromRoot(file), "utf8"))

/** Modules that open the test stores. Tests that import neither do the same on all stores, and run once. */
export const whereStoresComeFrom = ["postgres", "clickhouse"].map((store) => `server/test/support/${store}-database.ts`)

/** The folders of `server/src/storage` with statements to each kind of store, and the tests that drive them. */
export const drivenBy = {
  "catalog/accounts": ["access", "platform"],
  "catalog/artifacts": ["platform"],
  "catalog/evaluations": ["evaluations"],
  "catalog/files": ["platform", "training"],
  "catalog/inference": ["inference"],
  "catalog/labelling": ["labelling"],
  "catalog/migrations": ["storage"],
  "catalog/objects": ["objects"],
  "catalog/runs": ["platform"],
  "catalog/training": ["training"],
  "traces/agents": ["agents"],
  "traces/calls": ["calls"],
  "traces/evaluations": ["evaluations"],
  "traces/labelling": ["labelling"],
  "traces/migrations": ["storage"],
  "traces/query": ["calls", "objects"],
  "traces/runs": ["platform"],
  "traces/store": ["storage"],
  "traces/transfer": ["transfer"],
}
