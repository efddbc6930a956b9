/** The environment of the engine's process, which is a part of the server's. */
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, test } from "vitest"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { childrenOf, startServer } from "../support/server-process.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")

// Skipped without the engine's virtual environment, and without /proc, which shows the environment of a process.
test.skipIf(!existsSync(python) || !existsSync("/proc/self/environ"))(
  "security 5.2: no secret and no allocator's setting of the server is in the engine's environment, and what its libraries are set up with is",
  async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-environment-"))
    await copyCatalogTemplate(dataDir)
    const server = await startServer(dataDir, {
      HEDDLE_PYTHON: python,
      HEDDLE_LOG: "fatal",
      HEDDLE_ADMIN_KEY: "canary_admin_key_0123456789_0123456789_0123",
      HEDDLE_TEST_POSTGRES_URL: "postgresql://me:canary-password@db/heddle",
      AWS_SECRET_ACCESS_KEY: "canary-cloud",
      OPENAI_API_KEY: "sk-canary",
      HF_HOME: "/models/hub",
      OMP_NUM_THREADS: "2",
      MALLOC_ARENA_MAX: "2",
      MALLOC_TRIM_THRESHOLD_: "131072",
      CUDA_VISIBLE_DEVICES: "",
      https_proxy: "http://proxy.example:3128",
    })
    try {
      const [engine] = await childrenOf(server)
      const variables = (await readFile(`/proc/${engine}/environ`, "utf8")).split("\0")
      expect(variables).toEqual(
        expect.arrayContaining([
          "HF_HOME=/models/hub",
          "OMP_NUM_THREADS=2",
          "MALLOC_ARENA_MAX=2",
          "CUDA_VISIBLE_DEVICES=",
          "GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
          "https_proxy=http://proxy.example:3128",
          `PATH=${process.env["PATH"]}`,
        ]),
      )
      expect(variables.filter((one) => /canary|^HEDDLE_|^AWS_|^OPENAI_|^MALLOC_TRIM/.test(one))).toEqual([])
    } finally {
      server.process.kill("SIGTERM")
      await once(server.process, "exit")
      await rm(dataDir, { recursive: true, force: true })
    }
  },
)
