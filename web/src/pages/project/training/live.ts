/** How often a page of this section asks again while it is seen. */

/** A job that runs, and its events. */
export const eventsMs = 1_000
/** Lists with work that is under way. */
export const underWay = { refetchInterval: 2_000 } as const
/** Lists in which nothing runs: a job may begin. */
export const idle = { refetchInterval: 10_000 } as const
