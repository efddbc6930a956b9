/** Rules for the names of tags and aliases: evaluation-store-objects 2.7 and 2.8. */
import { invalid } from "../errors.ts"
import { codePoints } from "../json/code-points.ts"
import { isContentDigest } from "../json/digests.ts"
import { isStorable } from "../storage/catalog/storable-text.ts"

const maximumTagLength = 256
const maximumAliasLength = 128

/** Words with single spaces between them. */
const tagName = /^[-_\p{L}\p{N}]+( [-_\p{L}\p{N}]+)*$/u

/** The same tags, each once. @throws {HeddleError} 422 that names the first bad one. */
export function checkTags(tags: readonly string[]): string[] {
  for (const [index, tag] of tags.entries()) {
    const reason = tagFault(tag)
    if (reason !== null) throw invalid(["body", "tags", index], `the tag ${JSON.stringify(shortened(tag))} ${reason}`)
  }
  return [...new Set(tags)]
}

function tagFault(tag: string): string | null {
  if (tag === "") return "is empty: name at least one character"
  const length = codePoints(tag)
  if (length > maximumTagLength) return `has ${length} characters; a tag has at most ${maximumTagLength}`
  if (tagName.test(tag)) return null
  return "is not made of letters, digits, - and _ with single spaces between words"
}

/** The same aliases, each once. @throws {HeddleError} 422 that names the first bad one. */
export function checkAliases(aliases: readonly string[]): string[] {
  for (const [index, alias] of aliases.entries()) {
    const reason = aliasFault(alias)
    if (reason === null) continue
    throw invalid(["body", "aliases", index], `the alias ${JSON.stringify(shortened(alias))} ${reason}`)
  }
  return [...new Set(aliases)]
}

function aliasFault(alias: string): string | null {
  if (alias.trim() === "") return "is blank: name at least one character that is no space"
  const length = codePoints(alias)
  if (length > maximumAliasLength) return `has ${length} characters; an alias has at most ${maximumAliasLength}`
  if (/[/:]/.test(alias)) return 'holds "/" or ":", which separate the parts of a ref'
  if (!isStorable(alias)) return "holds a character that cannot be stored"
  if (alias === "latest") return "is reserved: it names the version that was published last"
  if (/^v\p{Nd}+$/u.test(alias)) return "is reserved: v and a number name a version by its index"
  if (isContentDigest(alias)) return "looks like a content digest and could never be read as an alias"
  return null
}

function shortened(text: string): string {
  return codePoints(text) <= 40 ? text : `${Array.from(text).slice(0, 40).join("")}…`
}
