/** Commands of the palette besides going to a page. A page adds its own while it is shown. */
import type { LucideIcon } from "lucide-react"
import { useEffect, useEffectEvent, useSyncExternalStore } from "react"

export interface Command {
  id: string
  label: string
  icon: LucideIcon
  /** Its shortcut. */
  keys?: string
  run: () => void
}

let commands: readonly Command[] = []
const listeners = new Set<() => void>()

function change(next: readonly Command[]): void {
  commands = next
  for (const listener of listeners) listener()
}

/** `added` may change with each rendering; which commands they are may not. */
export function useCommands(added: readonly Command[]): void {
  const run = useEffectEvent((id: string) => added.find((one) => one.id === id)?.run())
  const bound = useEffectEvent((wanted: readonly string[]) =>
    added.filter(({ id }) => wanted.includes(id)).map((command) => ({ ...command, run: () => run(command.id) })),
  )
  const ids = added.map(({ id }) => id).join("\n")
  // The palette's list.
  useEffect(() => {
    const own = bound(ids.split("\n"))
    change([...commands, ...own])
    return () => change(commands.filter((command) => !own.includes(command)))
  }, [ids])
}

export function useAllCommands(): readonly Command[] {
  return useSyncExternalStore(subscribe, () => commands)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
