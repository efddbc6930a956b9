/** The forms of a model name on the wire (inference-api 2, training-api 4.4). */
import { isStorable } from "../storage/catalog/storable-text.ts"

export type ModelName =
  | { kind: "base"; name: string }
  | {
      kind: "checkpoint"
      entity: string
      project: string
      name: string
      /** Both null: the newest. */
      step: number | null
      /** N of `:vN`: the N-th committed version, from 0. */
      version: number | null
    }
  /** It looks like an artifact and is none that could exist. */
  | { kind: "malformed" }

/** LiteLLM's provider prefix, should it reach the wire. */
const hostedPrefix = "hosted_vllm/"
/** Three slashes as ART writes it; two occur in a sample of the documentation. */
const artifactScheme = /^wandb-artifact:\/\/\/?/
const short = /^([A-Za-z0-9_.-]+)@(\d{1,9}|latest)$/

/** `project`: `<entity>/<project>` of the `OpenAI-Project` header, which gives `<name>@<step>` its place. */
export function parseModelName(text: string, project: { entity: string; project: string } | null): ModelName {
  const name = text.startsWith(hostedPrefix) ? text.slice(hostedPrefix.length) : text
  if (artifactScheme.test(name)) return parseArtifact(name.replace(artifactScheme, ""))
  const match = short.exec(name)
  if (match === null || project === null) return { kind: "base", name }
  const [, model, step] = match as unknown as [string, string, string]
  return {
    kind: "checkpoint",
    ...project,
    name: model,
    step: step === "latest" ? null : Number(step),
    version: null,
  }
}

function parseArtifact(path: string): ModelName {
  const [entity, project, last, ...rest] = path.split("/")
  if (!entity || !project || !last || rest.length > 0 || !isStorable(path)) return { kind: "malformed" }
  const colon = last.indexOf(":")
  const name = colon === -1 ? last : last.slice(0, colon)
  const version = parseVersion(colon === -1 ? "latest" : last.slice(colon + 1))
  return version === null || name === ""
    ? { kind: "malformed" }
    : { kind: "checkpoint", entity, project, name, ...version }
}

/** Nine digits stay inside the catalog's integers. */
function parseVersion(alias: string): { step: number | null; version: number | null } | null {
  if (alias === "latest") return { step: null, version: null }
  const step = /^step(\d{1,9})$/.exec(alias)
  if (step !== null) return { step: Number(step[1]), version: null }
  const version = /^v(\d{1,9})$/.exec(alias)
  return version === null ? null : { step: null, version: Number(version[1]) }
}

export function artifactName(entity: string, project: string, name: string): string {
  return `wandb-artifact:///${entity}/${project}/${name}`
}
