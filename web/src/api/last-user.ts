/** Who signed in last in this browser. What a tab keeps is of its user, and goes when somebody else opens a page in it. */
import { basePath } from "../base-path.ts"
import { putText } from "../kept/put-text.ts"

/** In the browser's storage the user who signed in last, in a tab's the one whose it is. */
export const userKey = `heddle.user ${basePath}`

/** This tab is the user's from here on: what it has kept of somebody else is gone. */
export function takeTab(userId: string): void {
  if ((sessionStorage.getItem(userKey) ?? userId) !== userId) sessionStorage.clear()
  putText(sessionStorage, userKey, userId)
}

/** Loads this page anew once somebody else than its user signs in in another tab: what it holds and sends is not theirs. */
export function watchSignIns(): void {
  addEventListener("storage", ({ key, newValue }) => {
    if (key === userKey && newValue !== sessionStorage.getItem(userKey)) location.reload()
  })
}
