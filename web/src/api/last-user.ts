/** Who signed in last in this browser. What its tabs keep is theirs, and goes when somebody else signs in. */
import { basePath } from "../base-path.ts"
import { putText } from "../kept/put-text.ts"

const key = `heddle.user ${basePath}`

/** Notes who has signed in; `before`: whom this page knows. True: somebody else, and what this tab has kept is gone. */
export function noteSignIn(userId: string, before: string | undefined): boolean {
  const last = localStorage.getItem(key) ?? before ?? userId
  putText(localStorage, key, userId)
  if (last === userId) return false
  sessionStorage.clear()
  return true
}

/**
 * Loads this page anew once somebody else has signed in in another tab: what it holds and sends is not theirs. `known`: whose
 * page it is.
 */
export function watchSignIns(known: () => string | undefined): void {
  addEventListener("storage", ({ key: changed, newValue }) => {
    if (changed !== key || newValue === (known() ?? newValue)) return
    sessionStorage.clear()
    location.reload()
  })
}
