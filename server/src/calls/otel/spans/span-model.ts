/** The model that a span is about: evaluation-store-calls 8. */
import { memberText } from "../../../json/json-members.ts"
import { firstFound, pathsOf, textOf } from "./attribute-lookup.ts"
import { callAttributeNames } from "./attribute-names.ts"
import { type AttributeTree, jsonOfNode, readForm } from "./attribute-tree.ts"

const names = pathsOf(callAttributeNames.model)
const parameters = pathsOf(callAttributeNames.model_parameters)

/** By its name a span is priced. null: nothing says it. */
export function modelIn(trees: readonly AttributeTree[]): string | null {
  return textOf(firstFound(trees, names)) ?? modelInParameters(trees)
}

/** As instrumentations that keep the parameters of the request as JSON say it. */
export function modelInParameters(trees: readonly AttributeTree[]): string | null {
  const found = firstFound(trees, parameters)
  const text = found === null ? null : memberText(jsonOfNode(found.node, readForm), "model")
  return text?.startsWith('"') === true ? (JSON.parse(text) as string) : null
}
