import { expect, test } from "vitest"
import { changesOf } from "./version-changes.mjs"

const lock = "# why\nopenai==3.54.0 \\\n    --hash=sha256:00\nlm_eval[api]==0.4.13\npytest==9.2.0\nsix==1.0\n"

test("each client with a newer version has a line of its own, and all other packages share one", () => {
  const installed = [
    { name: "openai", version: "3.57.0" },
    { name: "LM.Eval", version: "0.4.13" },
    { name: "pytest", version: "9.3.0" },
    { name: "brand-new", version: "1" },
  ]
  expect(changesOf(lock, installed, ["openai", "lm-eval"])).toEqual([
    "openai 3.54.0 → 3.57.0",
    "beside them: pytest 9.3.0",
  ])
  expect(changesOf(lock, [{ name: "openai", version: "3.54.0" }], ["openai"])).toEqual([
    "no newer version of its clients",
  ])
  expect(changesOf(lock, [{ name: "pytest", version: "9.3.0" }], ["openai"])).toEqual([
    "no newer version of its clients",
    "beside them: pytest 9.3.0",
  ])
})
