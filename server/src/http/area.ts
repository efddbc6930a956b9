import type { Route } from "./route.ts"

/** The routes and work that an area of the server gives to the app. */
export interface Area {
  routes: Route[]
  /** Begun when the server listens, ended when it answers no request any more. */
  background?: readonly BackgroundWork[]
}

export interface BackgroundWork {
  start(): void
  close(): Promise<void>
}

/** An area whose requests rest on work that goes on beside them. */
export interface WorkingArea extends Area {
  /** Call it before the first request. */
  start: () => Promise<void>
  /** Call it when no new request is taken: what is still answered may wait for this work. */
  close: () => Promise<void>
}
