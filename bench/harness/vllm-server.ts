/** Starts the serving peer: vLLM's CPU build, with LoRA adapters loaded at run time. */
import path from "node:path"
import type { CompletionServer } from "./completions.ts"
import { startProgram, type RunningProgram } from "./child-process.ts"
import { vllmPython } from "./environments.ts"
import { freePort, request, waitUntilReady } from "./http.ts"
import { machineCores } from "./machine.ts"
import type { Dtype } from "./options.ts"
import { logFile } from "./paths.ts"

const START_TIMEOUT_MS = 600_000
/**
 * One LoRA slot more than there are adapters, so that loading never waits. No prompt cache,
 * because Heddle gets a new cache salt every round: both compute every prompt in full.
 */
const SERVE_FLAGS =
  "--max-model-len 512 --max-num-seqs 64 --logprobs-mode raw_logprobs --no-enable-prefix-caching " +
  "--enable-lora --max-loras 9 --max-lora-rank 8 --max-cpu-loras 16"

export interface VllmServer extends AsyncDisposable {
  readonly pid: number
  /** Seconds from process start to the first 200 of /health. */
  readonly readySeconds: number
  loadAdapter(name: string, folder: string): Promise<void>
  readonly completions: CompletionServer
}

/** Serves the model in `folder` under the name `base`, on all cores, in the format that Heddle has there. */
export async function startVllm(folder: string, dtype: Dtype): Promise<VllmServer> {
  const python = await vllmPython()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const began = performance.now()
  const program = startProgram(python, serveArguments(folder, port, dtype), logFile("vllm"), {
    env: environment(python),
  })
  try {
    await waitUntilReady(`${url}/health`, START_TIMEOUT_MS, () => program.assertAlive())
  } catch (error) {
    await program[Symbol.asyncDispose]()
    throw error
  }
  return connect(url, program, (performance.now() - began) / 1000)
}

function serveArguments(folder: string, port: number, dtype: Dtype): string[] {
  const format = ["--dtype", dtype === "fp32" ? "float32" : "bfloat16"]
  const place = ["--served-model-name", "base", "--host", "127.0.0.1", "--port", String(port)]
  return ["-m", "vllm.entrypoints.cli.main", "serve", folder, ...place, ...format, ...SERVE_FLAGS.split(" ")]
}

function environment(python: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: `${path.dirname(python)}:${process.env["PATH"]}`,
    VLLM_TARGET_DEVICE: "cpu",
    VLLM_ALLOW_RUNTIME_LORA_UPDATING: "True",
    VLLM_CPU_KVCACHE_SPACE: "1",
    // By default vLLM leaves one core free, and Heddle uses all.
    VLLM_CPU_OMP_THREADS_BIND: `0-${machineCores() - 1}`,
    VLLM_NO_USAGE_STATS: "1",
    DO_NOT_TRACK: "1",
    HF_HUB_OFFLINE: "1",
  }
}

function connect(url: string, program: RunningProgram, readySeconds: number): VllmServer {
  return {
    pid: program.pid,
    readySeconds,
    async loadAdapter(name, folder) {
      // The answer is a sentence, not JSON.
      const body = { lora_name: name, lora_path: folder }
      const reply = await request("POST", `${url}/v1/load_lora_adapter`, body)
      if (reply.status !== 200) throw new Error(`vLLM refused adapter ${folder}: ${reply.status} ${reply.body}`)
    },
    completions: { url, headers: {}, extra: {} },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}
