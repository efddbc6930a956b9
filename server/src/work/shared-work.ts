import { outsideOfRequests } from "./work-scope.ts"

/** Callers at the same time share one run of `work`. It is nobody's alone, and goes on when the first of them leaves. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null
  return () => (running ??= outsideOfRequests(work).finally(() => (running = null)))
}
