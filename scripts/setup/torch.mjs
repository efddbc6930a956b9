/**
 * Chooses and installs a build of torch. The version is always the pinned one; only the build differs: with an NVIDIA
 * GPU it comes from the package index that pip is set up for (CUDA on Linux), without one it is a CPU build.
 *
 * The builds on PyPI are checked against the hashes of the lock, as every other package is. CPU builds of their own
 * version (`2.13.0+cpu`), which are not on PyPI, and what comes from `HEDDLE_TORCH_INDEX` are not: there pip checks the
 * hash that the index itself gives.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { cache, fromRoot, venvBin } from "./paths.mjs"
import { logOf, pip } from "./pip.mjs"
import { SetupError, say, step } from "./progress.mjs"
import { ask } from "./run.mjs"

/** PyTorch's own index of CPU builds, as its "Get started" page gives it. */
const CPU_INDEX = "https://download.pytorch.org/whl/cpu"
const CUDA_LIBRARIES = fromRoot("engine", "requirements-cuda.txt")

/**
 * The exact version that a requirements text pins, and the whole requirement with its hashes; null when it has no
 * torch.
 */
export function pinnedTorch(requirements) {
  const [requirement, version] = requirements.match(/^torch==(\S+)(?: \\\n +--hash=\S+)*/m) ?? []
  return requirement ? { version, requirement } : null
}

/**
 * Installs torch and the libraries that its CUDA build needs; its other dependencies are among the pinned requirements.
 */
export async function installTorch(venv, title, pinned) {
  const { version } = pinned
  if (installedTorch(venv) === version) return
  const gpu = hasNvidiaGpu()
  const { args, from, checked } = torchSource(venv, pinned, gpu)
  const what = `torch ${version}${gpu ? " for the NVIDIA GPU" : " for the CPU"}${from}${checked ? "" : ", not held to a hash of ours"}`
  await step(`${title}: ${what}`, (detail) =>
    pip(venv, ["install", ...args], { log: logOf(venv, "torch"), detail }),
  ).catch((error) => {
    throw new SetupError(
      `${error.message}\ntorch ${version} could not be installed. ` +
        "Set HEDDLE_TORCH_INDEX to a package index that has the build you want, for example a mirror of " +
        `${CPU_INDEX}, and run the command again.`,
    )
  })
  if (!gpu) return
  if (builtFor(venv) === "cpu") {
    say(
      "this machine has an NVIDIA GPU, but the index gave a CPU build of torch. " +
        "Set HEDDLE_TORCH_INDEX to an index of CUDA builds and delete engine/.venv to change it.",
    )
  } else if (checked) {
    await step(`${title}: the CUDA libraries of torch`, (detail) =>
      pip(venv, ["install", "--no-deps", "--require-hashes", "-r", CUDA_LIBRARIES], {
        log: logOf(venv, "cuda"),
        detail,
      }),
    )
  }
}

/** `args` for pip; `from`, the source in words for the reader; `checked` when the lock's hashes are checked. */
function torchSource(venv, { version, requirement }, gpu) {
  const index = process.env.HEDDLE_TORCH_INDEX
  // With its dependencies: a build for another CUDA needs libraries that no lock of ours names.
  if (index) return { args: [`--index-url=${index}`, `torch==${version}`], from: ` from ${new URL(index).host}` }
  const locked = { args: ["--no-deps", "--require-hashes", "-r", fileOf(requirement)], from: "", checked: true }
  if (gpu || process.platform !== "linux") return locked
  const chosen = configuredCpuBuild(venv, version)
  if (chosen === version) return locked
  if (chosen !== null) return { args: ["--no-deps", `torch==${chosen}`], from: " from pip's own configuration" }
  const args = ["--no-deps", `--index-url=${CPU_INDEX}`, `torch==${version}`]
  return { args, from: ` from ${new URL(CPU_INDEX).host}` }
}

function fileOf(requirement) {
  const file = join(cache, "torch.txt")
  mkdirSync(cache, { recursive: true })
  writeFileSync(file, `${requirement}\n`)
  return file
}

/** The installed version without its local part: 2.13.0 for 2.13.0+cpu. */
function installedTorch(venv) {
  const show = ask(venvBin(venv, "python"), [
    "-c",
    "from importlib.metadata import version; print(version('torch').split('+')[0])",
  ])
  return show || null
}

const builtFor = (venv) =>
  ask(venvBin(venv, "python"), ["-c", "import torch; print('cuda' if torch.version.cuda else 'cpu')"])

function hasNvidiaGpu() {
  return Boolean(ask("nvidia-smi", ["-L"], { timeout: 20_000 }))
}

/** The version of the CPU build that pip finds by itself; null when it finds none. */
function configuredCpuBuild(venv, version) {
  const options = ["--dry-run", "--no-deps", "--ignore-installed", "--quiet", "--disable-pip-version-check"]
  const report = ask(venvBin(venv, "python"), ["-m", "pip", "install", ...options, "--report=-", `torch==${version}`])
  const chosen = report && JSON.parse(report).install[0]?.metadata
  // A CUDA build is recognised by its requirements on NVIDIA's libraries, which a CPU build does not have.
  const cuda = !chosen || chosen.requires_dist?.some((name) => /^(nvidia|cuda)-/.test(name))
  return cuda ? null : chosen.version
}
