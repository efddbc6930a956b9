import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, test } from "vitest"
import { BodyBudget } from "../../http/bodies/body-budget.ts"
import { defaultLimits } from "../../limits.ts"
import { TrajectoryReader } from "./trajectory-reader.ts"

test("a body that breaks off is refused when nothing is left of it", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "heddle-trajectories-"))
  const reader = new TrajectoryReader()
  await reader.ping()
  // Nothing of it comes: the thread may make the file after the body has failed.
  const broken = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new TypeError("the client left")) }) }
  for (let round = 0; round < 50; round++) {
    await expect(
      reader.read(broken, path.join(folder, `${round}`), "engine", new BodyBudget(defaultLimits).open()),
    ).rejects.toThrow("the client left")
    expect(await readdir(folder)).toEqual([])
  }
  await reader.close()
  await rm(folder, { recursive: true, force: true })
})
