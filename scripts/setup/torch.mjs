/**
 * Which build of torch to install. The version is always the pinned one; only the build differs:
 * with an NVIDIA GPU the configured index's own build (CUDA on Linux), without one a CPU build.
 */
import { venvBin } from "./paths.mjs"
import { logOf, pip } from "./pip.mjs"
import { SetupError, say, step } from "./progress.mjs"
import { ask } from "./run.mjs"

/** PyTorch's own index of CPU builds, as its "Get started" page gives it. */
const CPU_INDEX = "https://download.pytorch.org/whl/cpu"

/** The exact version that a requirements text pins, or null when it has no torch. */
export function pinnedTorch(requirements) {
  return requirements.match(/^torch==(\S+)/m)?.[1] ?? null
}

/** Installs torch alone; its dependencies come with the pinned requirements. */
export async function installTorch(venv, title, version) {
  if (installedTorch(venv) === version) return
  const gpu = hasNvidiaGpu()
  const index = process.env.HEDDLE_TORCH_INDEX || (gpu ? null : cpuIndex(venv, version))
  const source = index ? [`--index-url=${index}`] : []
  const from = index ? ` from ${new URL(index).host}` : ""
  await step(`${title}: torch ${version}${gpu ? " for the NVIDIA GPU" : " for the CPU"}${from}`, (detail) =>
    pip(venv, ["install", "--no-deps", ...source, `torch==${version}`], { log: logOf(venv, "torch"), detail }),
  ).catch((error) => {
    throw new SetupError(
      `${error.message}\ntorch ${version} could not be installed. ` +
        "Set HEDDLE_TORCH_INDEX to a package index that has the build you want, for example a mirror of " +
        `${CPU_INDEX}, and run the command again.`,
    )
  })
  if (gpu && builtFor(venv) === "cpu") {
    say(
      "this machine has an NVIDIA GPU, but the index gave a CPU build of torch. " +
        "Set HEDDLE_TORCH_INDEX to an index of CUDA builds and delete engine/.venv to change it.",
    )
  }
}

/** Without its local part: 2.13.0 for 2.13.0+cpu. */
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

/** null when the configured index gives a CPU build by itself, else PyTorch's CPU index. */
function cpuIndex(venv, version) {
  if (process.platform !== "linux") return null
  const options = ["--dry-run", "--no-deps", "--ignore-installed", "--quiet", "--disable-pip-version-check"]
  const report = ask(venvBin(venv, "python"), ["-m", "pip", "install", ...options, "--report=-", `torch==${version}`])
  const chosen = report && JSON.parse(report).install[0]?.metadata
  // The CUDA builds are recognised by what they ask for; the CPU builds ask for none of it.
  const cuda = !chosen || chosen.requires_dist?.some((name) => /^(nvidia|cuda)-/.test(name))
  return cuda ? CPU_INDEX : null
}
