/** Messages of a starting server to the person who starts it. */
import { once } from "node:events"
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { type IncomingMessage, request } from "node:http"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openCatalog } from "../../src/storage/catalog/open-catalog.ts"
import { adminKey } from "../support/admin-key.ts"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { launchServer } from "../support/server-process.ts"

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-start-"))
  await copyCatalogTemplate(dataDir)
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

test("standard output has the ready message and the server's log lines, not the HTTP library's own message", async () => {
  const { child, url, lines } = launchServer(dataDir, { HEDDLE_PYTHON: "/bin/false", HEDDLE_LOG: "info" })
  const address = await url
  await expect.poll(() => lines.filter((line) => line.startsWith("{"))).not.toEqual([])
  child.kill("SIGTERM")
  await once(child, "exit")
  expect(lines.filter((line) => !line.startsWith("{"))).toEqual([`Heddle is ready at ${address} (data in ${dataDir})`])
  const logged = lines.filter((line) => line.startsWith("{")).map((line) => (JSON.parse(line) as { msg: string }).msg)
  expect(logged).toContain("engine ended")
  expect(logged.filter((message) => message.includes("listening"))).toEqual([])
})

test("each engine on another machine has a line that says whether it is attached", async () => {
  const tokenFile = path.join(dataDir, "token")
  await writeFile(tokenFile, "token_of_the_tests_0123456789_0123456789")
  const engines = { HEDDLE_ENGINE_URLS: "tcp://127.0.0.1:1,tcp://127.0.0.1:2", HEDDLE_ENGINE_TOKEN_FILE: tokenFile }
  const { child, url, lines } = launchServer(dataDir, { ...engines, HEDDLE_LOG: "silent" })
  await url
  child.kill("SIGTERM")
  await once(child, "exit")
  const refused = (port: number) =>
    `Engine tcp://127.0.0.1:${port}: cannot reach the engine at tcp://127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`
  expect(lines.slice(1)).toEqual([refused(1), refused(2)])
})

test("a first start that fails on a port in use leaves the key to the next start", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "heddle-start-"))
  await copyCatalogTemplate(folder)
  const taken = createServer().listen(0, "127.0.0.1")
  await once(taken, "listening")
  const { port } = taken.address() as AddressInfo
  const env = { HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal", HEDDLE_ADMIN_KEY: "" }
  await expect(launchServer(folder, env, port).url).rejects.toThrow(
    `cannot listen on 127.0.0.1 port ${port}: the port is in use. Stop what listens there`,
  )
  taken.close()
  const { child, url, lines } = launchServer(folder, env)
  await url
  await expect.poll(() => lines.join("\n")).toMatch(/Your API key, shown only this once: [A-Za-z0-9]{48}\n/)
  child.kill("SIGTERM")
  await once(child, "exit")
  await rm(folder, { recursive: true, force: true })
})

test("a start that is stopped says so and leaves nothing but its folder, with which the next start goes on", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "heddle-start-"))
  const [data, temporary] = ["data", "tmp"].map((name) => path.join(folder, name)) as [string, string]
  // In the place of the engine: it never listens, as the engine does not at that time, and ends with its server.
  const python = path.join(folder, "python")
  const program = writeFile(python, "#!/bin/sh\nexec cat > /dev/null\n", { mode: 0o755 })
  await Promise.all([mkdir(temporary), copyCatalogTemplate(data), program])
  const env = { HEDDLE_PYTHON: python, HEDDLE_LOG: "fatal", HEDDLE_ADMIN_KEY: "", TMPDIR: temporary }
  const stopped = launchServer(data, env)
  stopped.url.catch(() => undefined)
  await expect.poll(() => readdir(data).catch(() => []), { timeout: 20_000, interval: 2 }).toContain("lock")
  stopped.child.kill("SIGTERM")
  await once(stopped.child, "exit")
  expect([stopped.child.exitCode, stopped.lines]).toEqual([0, ["Heddle stops before it is ready"]])
  expect(await readdir(temporary)).toEqual([])
  expect((await readdir(data)).filter((name) => /^(lock|server-secret\.)/.test(name))).toEqual(["lock.db"])
  const { child, url, lines } = launchServer(data, env)
  await url
  await expect.poll(() => lines.join("\n")).toMatch(/Your API key, shown only this once: [A-Za-z0-9]{48}\n/)
  child.kill("SIGTERM")
  await once(child, "exit")
  await rm(folder, { recursive: true, force: true })
})

/** Begins a request whose body ends when `end` is called. */
async function slowRequest(url: string) {
  const [body, headers] = [
    '{"name":"slow"}',
    { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
  ]
  const sent = request(`${url}/v1/organization/teams`, {
    method: "POST",
    headers: { ...headers, "content-length": body.length },
  })
  const answer = once(sent, "response") as Promise<[IncomingMessage]>
  answer.catch(() => undefined)
  sent.write(body.slice(0, 5))
  // So that the server has begun it.
  await fetch(`${url}/health`)
  return { answer, end: () => sent.end(body.slice(5)) }
}

test("a signal that comes twice at once is one stop, which lets requests end; a later one ends at once", async () => {
  const env = { HEDDLE_ENGINE: "none", HEDDLE_LOG: "silent" }
  const first = launchServer(dataDir, env)
  const { answer, end } = await slowRequest(await first.url)
  first.child.kill("SIGTERM")
  await sleep(50)
  first.child.kill("SIGTERM")
  await sleep(50)
  end()
  const [answered] = await answer
  expect(answered.statusCode).toBe(200)
  // The server waits for who has yet to read an answer.
  answered.resume()
  await once(first.child, "exit")
  expect(first.child.exitCode).toBe(0)

  const second = launchServer(dataDir, env)
  await slowRequest(await second.url)
  second.child.kill("SIGTERM")
  await sleep(1_200)
  second.child.kill("SIGTERM")
  await once(second.child, "exit")
  expect(second.child.signalCode).toBe("SIGTERM")
})

test("an address that this machine does not have is named in the error, and the folder is released", async () => {
  const env = { HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal", HEDDLE_HOST: "192.0.2.1" }
  await expect(launchServer(dataDir, env).url).rejects.toThrow(
    "cannot listen on 192.0.2.1 port 0: this machine does not have the address. Choose one of its own with --host",
  )
  expect(await readdir(dataDir)).not.toContain("lock")
})

test("a PostgreSQL server that is away is one sentence, not a log line with a stack before it", async () => {
  const env = { HEDDLE_ENGINE: "none", HEDDLE_LOG: "info", HEDDLE_POSTGRES_URL: "postgresql://me:secret@127.0.0.1:9/d" }
  const { child, url, lines } = launchServer(dataDir, env)
  await expect(url).rejects.toThrow(
    new Error(
      "Heddle cannot start: PostgreSQL at 127.0.0.1:9/d (HEDDLE_POSTGRES_URL) cannot be used: " +
        "connect ECONNREFUSED 127.0.0.1:9. See that the setting is right, that the server runs and that it has this " +
        "user and database",
    ),
  )
  expect(lines).toEqual([])
  expect(child.exitCode).toBe(1)
})

test("an entity that no path could name is refused", async () => {
  const env = { HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal", HEDDLE_ENTITY: "a team/" }
  await expect(launchServer(dataDir, env).url).rejects.toThrow(
    'HEDDLE_ENTITY "a team/" cannot be used: a name has 1 to 64',
  )
})

test("an entity that is an address of the server is refused, unless it exists already", async () => {
  const env = { HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal" }
  await expect(launchServer(dataDir, { ...env, HEDDLE_ENTITY: "graphql" }).url).rejects.toThrow(
    'HEDDLE_ENTITY "graphql" cannot be used: "graphql" is the address of a part of the server; choose another name',
  )
  const catalog = await openCatalog({ postgresUrl: null, folder: path.join(dataDir, "catalog"), template: null })
  await catalog.insertInto("entities").values({ name: "graphql" }).execute()
  await catalog.destroy()
  const { child, url } = launchServer(dataDir, { ...env, HEDDLE_ENTITY: "graphql" })
  await url
  child.kill("SIGTERM")
  await once(child, "exit")
})
