/** A token's value under each heat: the step of its ramp, and the words. */
import type { TrainedTokens } from "@heddle/server/wire/training/trained-trajectory.ts"
import { formatChange, formatNumber, formatScore, formatShare } from "../../../../format/numbers.ts"
import type { TokenHeat } from "./trajectory-search.ts"

export interface OneToken {
  id: number
  text: string
  sampled: number | null
  now: number | null
  ratio: number | null
  isTrained: boolean
  isClipped: boolean
  /** Advantage of its sequence, or null unless it is trained. */
  advantage: number | null
  weight: number | null
}

export function tokenAt(
  tokens: TrainedTokens,
  place: number,
  sequence: { advantage: number; weight: number } | undefined,
): OneToken {
  const isTrained = tokens.trained[place] === true
  return {
    id: tokens.token_ids[place] ?? -1,
    text: tokens.texts[place] ?? "",
    sampled: tokens.sampled_logprobs[place] ?? null,
    now: tokens.logprobs[place] ?? null,
    ratio: tokens.ratios[place] ?? null,
    isTrained,
    isClipped: tokens.clipped[place] === true,
    advantage: isTrained ? (sequence?.advantage ?? null) : null,
    weight: isTrained ? (sequence?.weight ?? null) : null,
  }
}

/** null: the token has none, and no colour. */
export function heatOf(token: OneToken, heat: Exclude<TokenHeat, "trained">): number | null {
  if (heat === "surprise") return token.sampled === null ? null : -token.sampled
  return heat === "ratio" ? token.ratio : token.advantage
}

/** For screen readers, and on hover. */
export function tokenWords(token: OneToken, heat: TokenHeat): string {
  const trained = token.isTrained ? (token.isClipped ? "trained, outside the clip range" : "trained") : "not trained"
  if (heat === "trained") return trained
  const value = heatOf(token, heat)
  if (value === null) return `no ${heat}, ${trained}`
  if (heat === "surprise") return `probability ${formatShare(Math.exp(-value))}, ${trained}`
  return heat === "ratio"
    ? `ratio ${formatScore(value, 3)}, ${trained}`
    : `advantage ${formatChange(value)}, ${trained}`
}

/** A log-probability with the probability that it means. */
export function logprobWords(logprob: number | null): string {
  return logprob === null ? "unknown" : `${formatScore(logprob, 3)} (${formatShare(Math.exp(logprob))})`
}

/** White space as visible signs, and a dot for a token that has only a part of a character. */
export function visibleText(text: string): string {
  if (text === "") return "·"
  return text.replaceAll("\n", "↵\n").replaceAll("\t", "→\t")
}

export function weightWords(weight: number | null): string {
  return weight === null ? "none" : formatNumber(weight)
}
