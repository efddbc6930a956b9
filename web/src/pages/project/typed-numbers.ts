/** Numbers that a person types into a form: what they are, or why a text is none. */

/** undefined: nothing is written, or no number. */
export function numberOf(text: string): number | undefined {
  const number = Number(text)
  return text.trim() === "" || !Number.isFinite(number) ? undefined : number
}

/** A sentence; null: it is a number. */
export function noNumber(text: string): string | null {
  return numberOf(text) === undefined ? "This is no number." : null
}

/** For counts: a sentence; null: it is a whole number, `least` or more. */
export function noCountFrom(least: number): (text: string) => string | null {
  return (text) => {
    const number = numberOf(text)
    const isCount = number !== undefined && Number.isSafeInteger(number) && number >= least
    return isCount ? null : `This is no whole number from ${least} on.`
  }
}
