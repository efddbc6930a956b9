/** Format of keys: long enough, and in the alphabet that the wandb SDK accepts (training-api 5.1). */
import { randomInt } from "node:crypto"

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
const secretLength = 48

/** 48 characters out of 62: 285 bits. No dash, which the wandb SDK reads as the end of a prefix. */
export function makeKey(): string {
  return Array.from({ length: secretLength }, () => alphabet[randomInt(alphabet.length)]).join("")
}

/** The fault of a chosen key, or null if it is valid. */
export function keyFault(key: string): string | null {
  if (!/^[A-Za-z0-9_-]*$/.test(key)) return "it has characters outside A-Z a-z 0-9 _ -"
  if (key.length < 40) return `it has ${key.length} characters, and at least 40 are needed`
  return null
}
