/** How often the overview asks again while it is seen; a hidden tab does not ask. */

/** Work that runs, and rows that come in. */
export const quick = { refetchInterval: 3_000 } as const
/** Figures over hours and days. */
export const slow = { refetchInterval: 20_000 } as const
