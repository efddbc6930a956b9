import { expect, test } from "vitest"
import { rootPath } from "./root-path.ts"

test.each([
  ["/v1/models", "/v1/models"],
  ["/some/prefix/v1/preview/models?x=/v1/y", "/v1/preview/models?x=/v1/y"],
  ["/api/training/v1/health", "/v1/health"],
  ["/v1/models/a/v1/b", "/v1/models/a/v1/b"],
  ["/traces/call/read?x=1", "/call/read?x=1"],
  ["/prefix/v10/x", "/prefix/v10/x"],
  ["/", "/"],
  ["/docs/static/v1/x.js", "/docs/static/v1/x.js"],
])("training-api 0: %s is served as %s", (url, served) => expect(rootPath(url)).toBe(served))
