/** Names of models with the version that answered, as `gpt-4o-2024-08-06` for `gpt-4o`. */

export const latest = /[-@]latest$/
export const version = /[-@](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{8}|\d{3,4})$/

/** The name itself where it has no version. */
export function withoutVersion(model: string): string {
  return model.replace(latest, "").replace(version, "")
}
