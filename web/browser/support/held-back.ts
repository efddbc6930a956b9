/** Keeps a request of a page on its way, so that a test acts before it is answered. */
import type { Page } from "playwright-core"

interface HeldBack {
  /** The first of them was sent. */
  came: Promise<void>
  /** Lets all of them go on. */
  free: () => void
  /** Lets them go on, and waits until the first is answered and the page has acted on it. */
  release: () => Promise<void>
}

/** Holds back requests to `url` that `isHeld` picks. */
export async function heldBack(
  page: Page,
  url: string,
  isHeld: (method: string, body: string) => boolean = () => true,
): Promise<HeldBack> {
  const came = Promise.withResolvers<void>()
  const freed = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    const request = route.request()
    if (!isHeld(request.method(), request.postData() ?? "")) return route.fallback()
    came.resolve()
    await freed.promise
    await route.continue()
    await request.response()
    answered.resolve()
  })
  const release = async () => {
    freed.resolve()
    await answered.promise
    // The page acts on the answer, and would have been on its way.
    await page.waitForTimeout(300)
  }
  return { came: came.promise, free: freed.resolve, release }
}
