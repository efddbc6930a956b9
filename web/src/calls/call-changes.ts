/** Differences between two calls, by the parts that a person looks at one after the other. */
import type { JsonText } from "../json/json-text.ts"
import { diffValues, type ValueChange } from "../objects/value-diff.ts"

interface Payloads {
  inputs: JsonText
  output: JsonText
  attributes: JsonText
}

export interface ChangedPart {
  name: string
  changes: ValueChange[]
}

/** Members with the messages of a chat, as opposed to its parameters. */
const messages = /^(?:messages|input)(?:$|[.[])/

export function callChanges(before: Payloads, after: Payloads): ChangedPart[] {
  const inputs = diffValues(before.inputs, after.inputs)
  const said = inputs.filter(({ path }) => messages.test(path))
  const isChat = [before, after].some(({ inputs: text }) => /"messages"\s*:/.test(text))
  return [
    ...(isChat ? [{ name: "Messages", changes: said }] : []),
    {
      name: isChat ? "Parameters" : "Inputs",
      changes: isChat ? inputs.filter((change) => !said.includes(change)) : inputs,
    },
    { name: "Output", changes: diffValues(before.output, after.output) },
    { name: "Attributes", changes: diffValues(before.attributes, after.attributes) },
  ]
}
