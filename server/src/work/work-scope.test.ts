import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import {
  currentScope,
  inScope,
  keepScope,
  outsideOfRequests,
  toTheEnd,
  type WorkScope,
  workForTeam,
} from "./work-scope.ts"

const ann = (): WorkScope => ({ userId: "ann", teamId: "ann", signal: new AbortController().signal })

test("work has the scope of the request that it is awaited for, also beside others", async () => {
  const work = async () => {
    await sleep(1)
    return currentScope()?.userId
  }
  const users = ["ann", "bob", "eve"].map((userId) => inScope({ ...ann(), userId }, work))
  expect([...(await Promise.all(users)), await work()]).toEqual(["ann", "bob", "eve", undefined])
})

test("shared work leaves the scope; work that must be done keeps the user and loses the signal", async () => {
  await inScope(ann(), async () => {
    expect(await outsideOfRequests(async () => currentScope())).toBeUndefined()
    expect(await toTheEnd(async () => currentScope())).toEqual({ userId: "ann", teamId: "ann", signal: null })
    expect(currentScope()?.signal).not.toBeNull()
  })
  expect(toTheEnd(() => currentScope())).toBeUndefined()
})

test("a request works for its user's own team until it names a project", async () => {
  const teams: (string | undefined)[] = []
  await inScope(ann(), async () => {
    teams.push(currentScope()?.teamId)
    await (async () => workForTeam("acme"))()
    teams.push(currentScope()?.teamId)
  })
  workForTeam("nobody's")
  expect([...teams, currentScope()]).toEqual(["ann", "acme", undefined])
})

test("a generator keeps its scope, whoever asks it for more or ends it", async () => {
  const seen: (string | undefined)[] = []
  async function* pieces() {
    try {
      for (;;) yield seen.push(currentScope()?.userId)
    } finally {
      seen.push(currentScope()?.userId)
    }
  }
  const kept = inScope(ann(), () => keepScope(pieces()))
  await kept.next()
  await inScope({ ...ann(), userId: "bob" }, () => kept.next())
  await kept.return(undefined)
  expect(seen).toEqual(["ann", "ann", "ann"])
})
