/**
 * The keyboard layer: one listener for all shortcuts. It leaves a key alone while somebody types, in dialogs and menus, and
 * when another part of the page has used it. Of two bindings of the same key the one that came last counts: a page's own
 * before the frame's.
 */
import { isChord, type KeyPress, pressIs, stepsOf } from "./key-pattern.ts"

export interface KeyBinding {
  /** As `key-pattern.ts` says. */
  keys: string
  /** Description for the sheet of keys. */
  label: string
  /** Heading of the sheet that it stands under. */
  group: string
  run: () => void
  /** Whether the next press of a held key counts yet: false until the page has shown what the last one asked for. */
  mayRepeat?: () => boolean
  /** Works while somebody types and in dialogs, too: for submitting. */
  isEverywhere?: boolean
}

/** Two keys belong together when no more than this lies between. */
const sequenceMs = 1200

let bindings: readonly KeyBinding[] = []
let begun: { step: string; at: number } | null = null
const listeners = new Set<() => void>()

/** Returns how to take them back. */
export function bindKeys(added: readonly KeyBinding[]): () => void {
  bindings = [...bindings, ...added]
  tell()
  return () => {
    bindings = bindings.filter((binding) => !added.includes(binding))
    tell()
  }
}

/** For `useSyncExternalStore`: what the sheet shows. */
export const boundKeys = {
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  current: (): readonly KeyBinding[] => bindings,
}

function tell(): void {
  for (const listener of listeners) listener()
}

/** Which binding a press means; `first` is the key that was pressed just before, null for none. */
export function bindingOf(
  press: KeyPress,
  first: string | null,
  candidates: readonly KeyBinding[],
): { binding: KeyBinding | null; begins: string | null } {
  const newestFirst = candidates.toReversed()
  if (first !== null) {
    const second = newestFirst.find(({ keys }) => {
      const [one, two] = stepsOf(keys)
      return one === first && two !== undefined && pressIs(press, two)
    })
    if (second !== undefined) return { binding: second, begins: null }
  }
  const alone = newestFirst.find(({ keys }) => stepsOf(keys).length === 1 && pressIs(press, keys))
  if (alone !== undefined) return { binding: alone, begins: null }
  const opening = newestFirst.map(({ keys }) => stepsOf(keys)).find(([one = "", two]) => two && pressIs(press, one))
  return { binding: null, begins: opening?.[0] ?? null }
}

/** Begins to listen; called once, at the start of the page. */
export function listenForKeys(target: Document): void {
  target.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return
    const press = pressOf(event)
    const candidates = bindings.filter((one) => one.isEverywhere === true || mayPress(one, event.target, target))
    const first = begun !== null && event.timeStamp - begun.at < sequenceMs ? begun.step : null
    const { binding, begins } = bindingOf(press, first, candidates)
    if (!isModifier(event.key)) begun = begins === null ? null : { step: begins, at: event.timeStamp }
    if (binding === null || (event.repeat && binding.mayRepeat?.() !== true)) return
    event.preventDefault()
    binding.run()
  })
}

/**
 * While somebody types only chords count, and in dialogs and menus, which have keys of their own, nothing does. Enter
 * belongs to the button or link that has the focus.
 */
function mayPress({ keys }: KeyBinding, on: EventTarget | null, page: Document): boolean {
  if (isLayerOpen(page)) return false
  return isChord(keys) || !(isIn(on, typed) || (keys === "Enter" && isIn(on, pressed)))
}

function pressOf(event: KeyboardEvent): KeyPress {
  const { key, metaKey, ctrlKey, altKey } = event
  return { key, metaKey, ctrlKey, altKey, isAltGraph: event.getModifierState("AltGraph") }
}

const isModifier = (key: string) => ["Shift", "Control", "Alt", "Meta", "AltGraph"].includes(key)

const typed = "input:not([type=checkbox]):not([type=radio]):not([type=button]), textarea, select, [contenteditable]"

/** `data-option` marks one of several choices: Space chooses it, and leaves Enter to the page. */
const pressed = "a[href], button:not([data-option]), summary"

function isIn(target: EventTarget | null, selector: string): boolean {
  return target instanceof Element && target.closest(selector) !== null
}

function isLayerOpen(within: Document): boolean {
  return within.querySelector("[role=dialog], [role=alertdialog], [role=menu], [role=listbox]") !== null
}
