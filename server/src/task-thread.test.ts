import { expect, test } from "vitest"
import { tasks } from "./task-thread.ts"

test("each task that a thread knows is found by the name that it is sent by", async () => {
  const names = await Promise.all(Object.values(tasks).map(async (load) => (await load()).name))
  expect(names).toEqual(Object.keys(tasks))
})
