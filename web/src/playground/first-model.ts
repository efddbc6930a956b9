/** Which model a conversation begins with while nobody has chosen one. */
import { putText } from "../kept/put-text.ts"

interface Trained {
  name: string
  /** Newest step; null: none is left. */
  latest_step: number | null
  latest_step_at: string | null
}

interface Known {
  /** As chats name them, without single steps. */
  names: readonly string[]
  trained: readonly Trained[]
  base: readonly string[]
}

/**
 * The one that was asked last, while it can be asked; else the newest step that anything was learnt in; else a base model.
 * null: there is none at all.
 */
export function firstModel({ names, trained, base }: Known, last: string | null): string | null {
  if (last !== null && canBeAsked(last, names, trained)) return last
  const [newest] = trained
    .filter(({ latest_step: step }) => step !== null && step > 0)
    .toSorted((a, b) => timeOf(b) - timeOf(a))
  return newest === undefined ? (base[0] ?? names[0] ?? null) : `${newest.name}@latest`
}

/** A step is there as far as its model has come; a model of another project is known to the server alone. */
function canBeAsked(model: string, names: readonly string[], trained: readonly Trained[]): boolean {
  if (model.startsWith("wandb-artifact:")) return true
  const { name, step } = /^(?<name>.+)@(?<step>\d+|latest)$/.exec(model)?.groups ?? {}
  if (step === undefined) return names.includes(model)
  const latest = trained.find((one) => one.name === name)?.latest_step ?? null
  return latest !== null && (step === "latest" || Number(step) <= latest)
}

const timeOf = ({ latest_step_at: at }: Trained) => (at === null ? 0 : Date.parse(at))

type Store = Pick<Storage, "getItem" | "setItem">

const keyOf = (projectId: string) => `heddle.playground-model.${projectId}`

/** The model that this browser asked last in the project; null: none. */
export function lastModel(store: Store, projectId: string): string | null {
  return store.getItem(keyOf(projectId))
}

export function rememberModel(store: Store, projectId: string, model: string): void {
  putText(store, keyOf(projectId), model)
}
