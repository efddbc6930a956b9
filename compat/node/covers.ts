/** How a test names the required behaviours it checks: the start of its title. */
export const covers = (...ids: string[]): string => `[${ids.join(", ")}]`
