/** Who signed in last in this browser. What a tab keeps is of its user, and goes when somebody else opens a page in it. */
import { basePath } from "../base-path.ts"
import { putText } from "../kept/put-text.ts"

const key = `heddle.user ${basePath}`

/** Tells the other tabs, also when it is the same user again. */
export function noteSignIn(userId: string): void {
  putText(localStorage, key, `${userId} ${Date.now()}`)
}

/** This tab is the user's from here on: what it has kept of somebody else is gone. */
export function takeTab(userId: string): void {
  if ((sessionStorage.getItem(key) ?? userId) !== userId) sessionStorage.clear()
  putText(sessionStorage, key, userId)
}

/**
 * Hears of those who sign in in other tabs. `known`: whose page this is. For somebody else it is loaded anew, as what it holds
 * and sends is not theirs; for the same user `onSame` is called.
 */
export function watchSignIns(known: () => string | undefined, onSame: () => void): void {
  addEventListener("storage", ({ key: changed, newValue }) => {
    if (changed !== key || newValue === null) return
    if (newValue.split(" ", 1)[0] === known()) onSame()
    else location.reload()
  })
}
