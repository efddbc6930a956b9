/**
 * Lint reports each violation of `.oxlintrc.json` and `.oxlint-imports.json` that is planted in a copy of the layout.
 */
import { execFile } from "node:child_process"
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"

const root = path.resolve(import.meta.dirname, "../../..")
const oxlint = path.join(root, "node_modules/oxlint/bin/oxlint")

const forbidden: Record<string, string> = {
  "training/a.ts": 'export { x } from "../inference/x.ts"',
  "training/b.ts": 'export { x } from "../engines/x.ts"',
  "inference/a.ts": 'export { x } from "../scheduler/x.ts"',
  "platform/a.ts": 'export { x } from "../training/x.ts"',
  "objects/a.ts": 'export { x } from "../labelling/x.ts"',
  "objects/tables/a.ts": 'export { x } from "../../calls/x.ts"',
  "labelling/a.ts": 'export { x } from "../calls/x.ts"',
  "labelling/feedback/a.ts": 'export { x } from "../../evaluations/x.ts"',
  "calls/a.ts": 'export { x } from "../evaluations/x.ts"',
  "calls/otel/spans/a.ts": 'export { x } from "../../../agents/x.ts"',
  "calls/read/a.ts": 'export { x } from "../../transfer/x.ts"',
  "evaluations/a.ts": 'export { x } from "../agents/x.ts"',
  "evaluations/b.ts": 'export { x } from "../scheduler/x.ts"',
  "agents/a.ts": 'export { x } from "../transfer/x.ts"',
  "transfer/a.ts": 'export { x } from "../evaluations/x.ts"',
  "platform/b.ts": 'export { x } from "../objects/x.ts"',
  "scheduler/a.ts": 'export { x } from "../gateway/x.ts"',
  "gateway/a.ts": 'export { x } from "../http/x.ts"',
  "engines/a.ts": 'export { x } from "../storage/catalog/x.ts"',
  "access/a.ts": 'export { x } from "../http/x.ts"',
  "storage/catalog/b.ts": 'export { x } from "../../access/x.ts"',
  "storage/traces/agents/a.ts": 'export { x } from "../../../calls/x.ts"',
  "wire/calls/a.ts": 'export { x } from "../../calls/x.ts"',
  "outbound/a.ts": 'export { x } from "../limits.ts"',
  "storage/catalog/a.ts": 'export { x } from "../../http/x.ts"',
  "http/a.ts": 'export { x } from "../storage/x.ts"',
  "http/b.ts": 'export { x } from "../app.ts"',
  "json/a.ts": 'export { x } from "../http/x.ts"',
  "work/a.ts": 'export { x } from "../http/x.ts"',
  "threads/a.ts": 'export { x } from "../http/x.ts"',
  "wire/training/a.ts": 'export { x } from "../../storage/x.ts"',
  "wire/training/b.ts": 'export { x } from "kysely"',
  "http/c.ts": "export default 1",
  "http/d.ts": "export const f = (x: any): unknown => x",
  "http/e.ts": "const f = async () => 1\nexport const g = () => {\n  f()\n}",
  "http/f.ts": 'import { h } from "./h.ts"\nexport const f = (): number => h()',
  "http/h.ts": 'import { f } from "./f.ts"\nexport const h = (): number => f()',
}

const allowed: Record<string, string> = {
  "training/ok.ts": 'export { x } from "../wire/inference/x.ts"\nexport { y } from "../scheduler/y.ts"',
  "storage/catalog/ok.ts": 'export type { x } from "../../wire/training/x.ts"',
  "access/ok.ts": 'export { x } from "../storage/catalog/x.ts"\nexport { y } from "../errors.ts"',
  "http/ok.ts": 'export { x } from "../access/x.ts"',
  "labelling/ok.ts": 'export { x } from "../objects/x.ts"',
  "calls/ok.ts": 'export { x } from "../labelling/x.ts"\nexport { y } from "../objects/y.ts"',
  "evaluations/execution/ok.ts": 'export { x } from "../../calls/x.ts"\nexport { y } from "../runs/y.ts"',
  "agents/ok.ts": 'export { x } from "../calls/x.ts"',
  "transfer/import/ok.ts": 'export { x } from "../../calls/x.ts"\nexport { y } from "../export/y.ts"',
  "storage/traces/agents/ok.ts": 'export { x } from "../calls/x.ts"\nexport { y } from "../../catalog/training/y.ts"',
  "threads/ok.ts": 'export { x } from "../json/x.ts"\nexport { y } from "../errors.ts"',
  "app.ts": 'export { x } from "./training/x.ts"\nexport { y } from "./engines/y.ts"',
  "wire/training/ok.ts": 'import { z } from "zod"\nexport { x } from "../engine/x.ts"\nexport const y = z.string()',
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-lint-"))
  for (const file of [".oxlintrc.json", ".oxlint-imports.json", "tsconfig.json"]) {
    await copyFile(path.join(root, file), path.join(folder, file))
  }
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"))
  for (const [file, text] of Object.entries({ ...forbidden, ...allowed })) {
    const target = path.join(folder, "server/src", file)
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, `${text}\n`)
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test("every planted violation is reported, and what is allowed is not", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [oxlint, "--type-aware", "--format=json"], {
    cwd: folder,
  }).catch((failure: { stdout: string }) => failure)
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string }[] }
  const reported = new Set(diagnostics.map((diagnostic) => diagnostic.filename.replace(/^.*server\/src\//, "")))
  expect([...reported].toSorted()).toEqual(Object.keys(forbidden).toSorted())
})
