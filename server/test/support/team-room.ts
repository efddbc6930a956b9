/** How much the team "acme" may store, which is full at 0. */
import { expect, onTestFinished } from "vitest"
import type { FakeEngine } from "../../src/engines/fake-engine.ts"

interface Admin {
  post: (path: string, body: object) => Promise<{ status: number }>
}

/** `stored_bytes` null: as much as any team. */
export async function setRoom(admin: Admin, stored_bytes: number | null): Promise<void> {
  expect((await admin.post("/v1/organization/teams/acme/quotas", { stored_bytes })).status).toBe(200)
}

/** From the first chat on the team has no room, until the test has ended or its room is set. */
export function fullOnceAsked(admin: Admin, fake: FakeEngine): void {
  onTestFinished(() => setRoom(admin, null))
  const answer = fake.handlers.chat
  fake.handlers.chat = async (params, call) => {
    await setRoom(admin, 0)
    return answer?.(params, call)
  }
}
