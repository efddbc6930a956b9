/** The part of the first run that is in its address. */
import { searchChoice } from "../../../url/search.ts"

export const clientSearch = searchChoice(["openai", "art", "wandb", "weave", "otel", "curl"])
