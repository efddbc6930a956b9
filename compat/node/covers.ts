/** The start of a test's title, which names the required behaviours that the test checks. */
export const covers = (...ids: string[]): string => `[${ids.join(", ")}]`
