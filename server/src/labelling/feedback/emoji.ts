/**
 * Names of emoji the way reactions carry them (evaluation-store-objects 2.3): Unicode's short name
 * with underscores, `:thumbs_up_light_skin_tone:`, as Python's package `emoji` writes it.
 */
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

export interface EmojiName {
  /** `:name:` with the skin tones. */
  alias: string
  /** The emoji without skin tones. */
  detoned: string
  detonedAlias: string
}

/** null unless `text` is exactly one emoji. */
export function nameEmoji(text: string): EmojiName | null {
  const named = find(text)
  if (named !== undefined) return emojiName(named, named.name)
  const bare = withoutVariation(text.replaceAll(toneModifiers, ""))
  const base = find(pairs.get(bare) ?? bare)
  if (base !== undefined) return emojiName(base, toned(base.name, tonesOf(text), pairs.has(bare)))
  // One that is newer than the list has no name yet.
  return isOneEmoji(text) ? { alias: text, detoned: text, detonedAlias: text } : null
}

function emojiName({ emoji, name, isFlag }: KnownEmoji, fullName: string): EmojiName {
  const alias = (words: string) => `:${(isFlag ? words.replace("flag ", "") : words).replaceAll(" ", "_")}:`
  return { alias: alias(fullName), detoned: emoji, detonedAlias: alias(name) }
}

function tonesOf(text: string): string[] {
  return [...text.matchAll(toneModifiers)].map(([tone]) => toneNames[tone] ?? "")
}

const toneModifiers = /[\u{1f3fb}-\u{1f3ff}]/gu

const toneNames: Record<string, string> = {
  "\u{1f3fb}": "light skin tone",
  "\u{1f3fc}": "medium-light skin tone",
  "\u{1f3fd}": "medium skin tone",
  "\u{1f3fe}": "medium-dark skin tone",
  "\u{1f3ff}": "dark skin tone",
}

/** Two people with a tone each are written as two, and as one character when both have none. */
const pairs = new Map([
  ["🫱‍🫲", "🤝"],
  ["🧑‍❤‍🧑", "💑"],
  ["🧑‍❤‍💋‍🧑", "💏"],
  ["👨‍🤝‍👨", "👬"],
  ["👩‍🤝‍👨", "👫"],
  ["👩‍🤝‍👩", "👭"],
  ["🧑‍🐰‍🧑", "👯"],
  ["👨‍🐰‍👨", "👯‍♂"],
  ["👩‍🐰‍👩", "👯‍♀"],
  ["🧑‍🫯‍🧑", "🤼"],
  ["👨‍🫯‍👨", "🤼‍♂"],
  ["👩‍🫯‍👩", "🤼‍♀"],
])

/** U+FE0F asks for the coloured form; emoji are also sent without it. */
function withoutVariation(text: string): string {
  return text.replaceAll("\ufe0f", "")
}

const hair = /^(man|woman|person) (beard|bald|[a-z]+ hair)$/

/** Unicode names put the skin tones after the person or at the end. */
function toned(name: string, tones: readonly string[], isPair: boolean): string {
  const skinTones = [...new Set(tones)].join(" ")
  const [, person, look] = hair.exec(name) ?? []
  if (person !== undefined) return `${person} ${skinTones} ${look}`
  const couple = isPair && (name === "couple with heart" || name === "kiss")
  return couple ? `${name} person person ${skinTones}` : `${name} ${skinTones}`
}

interface KnownEmoji {
  emoji: string
  name: string
  /** True for a flag; the country's or region's name is then the whole name. */
  isFlag: boolean
}

let knownEmoji: Map<string, KnownEmoji> | null = null

function find(text: string): KnownEmoji | undefined {
  knownEmoji ??= loadNames()
  return knownEmoji.get(withoutVariation(text))
}

/** Read at the first reaction: the list is 400 KB. */
function loadNames(): Map<string, KnownEmoji> {
  const list = require("unicode-emoji-json") as Record<string, ListedEmoji>
  return new Map(
    Object.entries(list).map(([emoji, { name, group }]) => {
      const plain = name.replaceAll(" - ", "-").replaceAll(/[:,“”]/g, "")
      return [withoutVariation(emoji), { emoji, name: plain, isFlag: group === "Flags" && plain.startsWith("flag ") }]
    }),
  )
}

interface ListedEmoji {
  name: string
  group: string
}

function isOneEmoji(text: string): boolean {
  return /^\p{RGI_Emoji}$/v.test(text) || /^\p{Extended_Pictographic}\p{Emoji_Modifier}?$/u.test(text)
}
