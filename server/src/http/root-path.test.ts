import { expect, test } from "vitest"
import { RootPath } from "./root-path.ts"

function rootPath(prefix: string | null): RootPath {
  const paths = new RootPath(prefix)
  for (const url of ["/v1/models", "/docs/static/*", "/call/read", "/objs/:object_id/aliases", "/:any"]) {
    paths.learn(url)
  }
  return paths
}

test.each([
  ["/v1/models", "/v1/models"],
  ["/some/prefix/v1/preview/models?x=/v1/y", "/v1/preview/models?x=/v1/y"],
  ["/api/training/v1/health", "/v1/health"],
  ["/v1/models/a/v1/b", "/v1/models/a/v1/b"],
  ["/prefix/v10/x", "/prefix/v10/x"],
  ["/", "/"],
  ["/docs/static/v1/x.js", "/docs/static/v1/x.js"],
])("training-api 0: %s is served as %s", (url, served) => expect(rootPath(null).of(url)).toBe(served))

test.each([
  ["/traces/call/read?x=1", "/call/read?x=1"],
  ["/traces", "/"],
  ["/tracesome/call/read", "/tracesome/call/read"],
  ["/objs/v1/aliases", "/objs/v1/aliases"],
  ["/objs/a/v1/b", "/objs/a/v1/b"],
  ["/traces/agents/otel/v1/traces", "/agents/otel/v1/traces"],
])("objects 1: %s is served as %s", (url, served) => expect(rootPath(null).of(url)).toBe(served))

test.each([
  ["/team/heddle/call/read", "/call/read"],
  ["/team/heddle/traces/call/read", "/call/read"],
  ["/team/heddle/v1/models", "/v1/models"],
  ["/team/heddle?x", "/?x"],
  ["/team/heddlesticks/call/read", "/team/heddlesticks/call/read"],
  ["/call/read", "/call/read"],
])("under the operator's prefix /team/heddle, %s is served as %s", (url, served) =>
  expect(rootPath("/team/heddle").of(url)).toBe(served),
)
