import { expect, test } from "vitest"
import { AdapterLeases } from "./adapter-leases.ts"

function recorder() {
  const done: string[] = []
  return { done, action: (name: string) => () => Promise.resolve(void done.push(name)) }
}

test("training-api 4.3: what is not in use is removed at once", async () => {
  const leases = new AdapterLeases(() => undefined)
  const { done, action } = recorder()
  const give = leases.take("m", 1)
  await leases.afterUse("m", 2, action("step 2"))
  await leases.afterUse("other", null, action("other"))
  expect(done).toEqual(["step 2", "other"])
  give()
})

test("training-api 4.3: what is in use is removed after its last request", async () => {
  const leases = new AdapterLeases(() => undefined)
  const { done, action } = recorder()
  const [first, second, other] = [leases.take("m", 1), leases.take("m", 1), leases.take("m", 2)]
  await leases.afterUse("m", 1, action("step 1"))
  await leases.afterUse("m", null, action("model"))
  first()
  expect(done).toEqual([])
  second()
  expect(done).toEqual(["step 1"])
  other()
  expect(done).toEqual(["step 1", "model"])
})

test("a removal that fails is told, at once or after the last request, and the next one runs", async () => {
  const failures: unknown[] = []
  const leases = new AdapterLeases((error) => failures.push(error))
  const { done, action } = recorder()
  const [first, second] = [new Error("ENOTEMPTY"), new Error("EPERM")]
  await leases.afterUse("m", 1, () => Promise.reject(first))
  const give = leases.take("m", 1)
  await leases.afterUse("m", 1, () => Promise.reject(second))
  await leases.afterUse("m", 1, action("next"))
  give()
  await new Promise((resolve) => setImmediate(resolve))
  expect([failures, done]).toEqual([[first, second], ["next"]])
})
