/** Light, dark, or as the system has it. The choice is a cookie, because the server writes it into the first paint. */
import { useSyncExternalStore } from "react"
import { basePath } from "../base-path.ts"

export type Theme = "light" | "dark"

const yearSeconds = 365 * 24 * 3600
const systemIsDark = matchMedia("(prefers-color-scheme: dark)")
const listeners = new Set<() => void>()

export function currentTheme(): Theme {
  const chosen = document.documentElement.dataset["theme"]
  if (chosen === "light" || chosen === "dark") return chosen
  return systemIsDark.matches ? "dark" : "light"
}

/** To go back to what the system has is to forget the choice. */
export function toggleTheme(): void {
  const wanted: Theme = currentTheme() === "dark" ? "light" : "dark"
  const isSystems = wanted === (systemIsDark.matches ? "dark" : "light")
  document.documentElement.dataset["theme"] = isSystems ? "system" : wanted
  const life = isSystems ? 0 : yearSeconds
  document.cookie = `heddle_theme=${wanted}; path=${basePath}; max-age=${life}; samesite=lax`
  for (const listener of listeners) listener()
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, currentTheme)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  systemIsDark.addEventListener("change", listener)
  return () => {
    listeners.delete(listener)
    systemIsDark.removeEventListener("change", listener)
  }
}
