/** Differences between two calls, by the parts that a person looks at one after the other. */
import type { JsonText } from "../json/json-text.ts"
import { diffValues, type ValueChange } from "../objects/value-diff.ts"

interface Payloads {
  inputs: JsonText
  output: JsonText
  attributes: JsonText
  exception?: string | null | undefined
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
    ...errorChanges(before, after),
    { name: "Output", changes: diffValues(before.output, after.output) },
    { name: "Attributes", changes: diffValues(before.attributes, after.attributes) },
  ]
}

/** Nothing where both calls ended well. */
function errorChanges(before: Payloads, after: Payloads): ChangedPart[] {
  const [was, is] = [before, after].map(({ exception }) => exception ?? null)
  if (was === null && is === null) return []
  const text = (error: string | null | undefined) => (error == null ? null : (JSON.stringify(error) as JsonText))
  return [{ name: "Error", changes: was === is ? [] : [{ path: "", before: text(was), after: text(is) }] }]
}
