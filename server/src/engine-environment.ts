/**
 * What of this process's environment the engine gets: what Python, its libraries and the graphics card are set up with. The
 * engine reads models of strangers, so nothing that a variable keeps for the server (keys, passwords of databases) may reach it.
 */

/** A variable is passed on that has one of these names, or begins with one of the prefixes. */
const names = new Set(
  words(`PATH HOME USER LOGNAME SHELL TZ LANG LANGUAGE TMPDIR TEMP TMP VIRTUAL_ENV
    LD_LIBRARY_PATH LD_PRELOAD DYLD_LIBRARY_PATH GLIBC_TUNABLES
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE`),
)
const prefixes = words(`LC_ XDG_ PYTHON MALLOC_
  HF_ HUGGINGFACE_ TRANSFORMERS_ TOKENIZERS_ SAFETENSORS_ RAYON_
  TORCH PYTORCH_ TRITON_ OMP_ GOMP_ KMP_ MKL_ OPENBLAS_
  VLLM_CPU_ VLLM_ATTENTION_ VLLM_LOGGING_
  CUDA_ CUBLAS_ CUDNN_ NVIDIA_ NCCL_ HIP_ ROCR_ HSA_`)
/** How memory is kept by this process (scripts/setup/server-flags.mjs); tensors want it otherwise. */
const ownNames = new Set(["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"])

/**
 * What the engine gets unless the user has set it. Large pages: its processor looks up addresses of weights, keys and values
 * less often, so that to generate takes 0.96 of the time (docs/decisions/0007-decode-threads.md). glibc 2.35 and newer know it.
 */
const defaults = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" }

function words(text: string): string[] {
  return text.split(/\s+/)
}

export function engineEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isPassedOn(entry[0]),
  )
  return { ...defaults, ...Object.fromEntries(kept) }
}

function isPassedOn(name: string): boolean {
  return names.has(name) || (!ownNames.has(name) && prefixes.some((prefix) => name.startsWith(prefix)))
}
