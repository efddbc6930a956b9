import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { access, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { lockDataFolder } from "./data-lock.ts"

let folder: string
const children: ChildProcess[] = []
beforeEach(async () => (folder = await mkdtemp(path.join(tmpdir(), "heddle-lock-"))))
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL")
  await rm(folder, { recursive: true, force: true })
})

/** Another process that takes the lock and keeps it; "held", or why it could not. */
async function otherProcess(): Promise<{ child: ChildProcess; said: string }> {
  const code = `
    import { lockDataFolder } from ${JSON.stringify(path.join(import.meta.dirname, "data-lock.ts"))}
    const said = await lockDataFolder(process.argv[1]).then(() => "held", (error) => error.message)
    // The lock must not go with what nobody refers to any more.
    for (let round = 0; round < 2; round++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      gc()
    }
    process.stdout.write(said)
    setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ["--expose-gc", "--input-type=module", "-e", code, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  children.push(child)
  const [said] = (await once(child.stdout, "data")) as [Buffer]
  return { child, said: said.toString() }
}

test("the second is refused by the holder's pid, until the first lets go", async () => {
  const lock = await lockDataFolder(folder)
  await expect(lockDataFolder(folder)).rejects.toThrow(`is in use by another Heddle server (process ${process.pid})`)
  await lock.release()
  await expect(access(path.join(folder, "lock"))).rejects.toThrow("ENOENT")
  await (await lockDataFolder(folder)).release()
})

test("the lock of a killed process is taken over", async () => {
  const { child, said } = await otherProcess()
  expect(said).toBe("held")
  await expect(lockDataFolder(folder)).rejects.toThrow(`another Heddle server (process ${child.pid})`)
  child.kill("SIGKILL")
  await once(child, "exit")
  await (await lockDataFolder(folder)).release()
})

test.each(["", '{"pid":1', '{"pid":999999999,"started":"1"}'])(
  "who holds the lock keeps it, also while its file says %j",
  async (content) => {
    const { said } = await otherProcess()
    expect(said).toBe("held")
    await writeFile(path.join(folder, "lock"), content)
    await expect(lockDataFolder(folder)).rejects.toThrow("is in use by another Heddle server")
  },
)

test("of many that start at once, after a server was killed, one gets the folder", async () => {
  const { child } = await otherProcess()
  child.kill("SIGKILL")
  await once(child, "exit")
  const answers = await Promise.all(Array.from({ length: 5 }, otherProcess))
  expect(answers.filter(({ said }) => said === "held")).toHaveLength(1)
  expect(answers.filter(({ said }) => said.includes("is in use by another Heddle server"))).toHaveLength(4)
})
