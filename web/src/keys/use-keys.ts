/** Shortcuts of a part of the page, as long as it is shown. */
import { useEffect, useEffectEvent, useSyncExternalStore } from "react"
import { bindKeys, boundKeys, type KeyBinding } from "./keyboard.ts"

/** `bindings` may change with each rendering; which keys they are may not, but for being there or not. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const run = useEffectEvent((keys: string) => bindings.find((one) => one.keys === keys)?.run())
  const mayRepeat = useEffectEvent((keys: string) => bindings.find((one) => one.keys === keys)?.mayRepeat?.() === true)
  const shape = bindings.map(({ keys, label, group, isEverywhere }) => ({ keys, label, group, isEverywhere }))
  const signature = JSON.stringify(shape)
  // The document's keyboard.
  useEffect(() => {
    const bound = (JSON.parse(signature) as typeof shape).map(({ isEverywhere, ...binding }) => ({
      ...binding,
      ...(isEverywhere === undefined ? {} : { isEverywhere }),
      run: () => run(binding.keys),
      mayRepeat: () => mayRepeat(binding.keys),
    }))
    return bindKeys(bound)
  }, [signature])
}

/** Every shortcut that works now. */
export function useBoundKeys(): readonly KeyBinding[] {
  return useSyncExternalStore(boundKeys.subscribe, boundKeys.current)
}
