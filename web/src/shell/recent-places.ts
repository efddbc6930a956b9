/** Projects that this browser opened lately: they come first where projects are listed. */
import { putText } from "../kept/put-text.ts"

const key = "heddle.recent-projects"
const most = 8

export function recentProjects(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "[]")
    return Array.isArray(stored) ? stored.filter((name) => typeof name === "string") : []
  } catch {
    return []
  }
}

/** `name` is `entity/project`. */
export function rememberProject(name: string): void {
  const others = recentProjects().filter((other) => other !== name)
  putText(localStorage, key, JSON.stringify([name, ...others].slice(0, most)))
}
