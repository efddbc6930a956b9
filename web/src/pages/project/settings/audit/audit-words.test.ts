import type { AuditLog } from "@heddle/server/wire/platform/audit-log.ts"
import { expect, test } from "vitest"
import { actorOf, detailsOf } from "./audit-words.ts"

const entry = (details: object): AuditLog => ({
  id: "audit_log-1",
  object: "organization.audit_log",
  type: "user.added",
  effective_at: 0,
  outcome: "succeeded",
  actor: { type: "api_key", api_key: { id: "k", type: "user", user: { id: "u", username: "ada" } } },
  request_id: null,
  team: null,
  "user.added": details,
})

test("details are read without the id, whatever they hold", () => {
  const details = {
    id: "x",
    username: "grace",
    is_admin: false,
    teams: ["lab", "shop"],
    models: null,
    steps: 3,
    none: [],
  }
  expect(detailsOf(entry(details))).toBe(
    "username grace, is admin no, teams lab shop, models default, steps 3, none none",
  )
  expect(detailsOf({ ...entry({}), type: "model.deleted" })).toBe("")
})

test("an entry whose id is the name of a project or a backup says it; a limit that was taken off is none", () => {
  const audit = (type: AuditLog["type"], details: object) => detailsOf({ ...entry({}), type, [type]: details })
  expect(audit("call.deleted", { id: "lab/demo", ids: ["a", "b"], count: 3 })).toBe(
    "project lab/demo, ids a b, count 3",
  )
  expect(audit("cost.deleted", { id: "lab/demo", ids: ["a"], count: 1 })).toBe("project lab/demo, ids a, count 1")
  expect(audit("feedback.deleted", { id: "lab/demo", ids: ["a"], count: 1 })).toBe("project lab/demo, ids a, count 1")
  expect(audit("project.retention_updated", { id: "lab/demo", retention_days: null })).toBe(
    "project lab/demo, retention days without limit",
  )
  expect(audit("backup.created", { id: "2026-11-30" })).toBe("backup 2026-11-30")
  expect(audit("quotas.updated", { id: "1", storage_bytes: null })).toBe("storage bytes default")
})

test("the server is nobody", () => {
  expect(actorOf(entry({}))).toEqual({ username: "ada", apiKeyId: "k" })
  expect(actorOf({ ...entry({}), actor: { type: "server" } })).toBeNull()
})
