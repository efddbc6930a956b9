import { describe, expect, test } from "vitest"
import { pressIs, shownKeys } from "./key-pattern.ts"
import { bindingOf, type KeyBinding } from "./keyboard.ts"

const press = (key: string, held: Partial<Parameters<typeof pressIs>[0]> = {}) => ({
  key,
  metaKey: false,
  ctrlKey: false,
  altKey: false,
  isAltGraph: false,
  ...held,
})

describe("which key is meant", () => {
  test.each([
    ["?", press("?"), true],
    ["j", press("j"), true],
    ["j", press("J"), false],
    ["X", press("X"), true],
    ["j", press("j", { ctrlKey: true }), false],
    ["j", press("j", { metaKey: true }), false],
    ["j", press("j", { altKey: true }), false],
    ["mod+k", press("k", { metaKey: true }), true],
    ["mod+k", press("K", { ctrlKey: true }), true],
    ["mod+k", press("k"), false],
    ["mod+Enter", press("Enter", { ctrlKey: true }), true],
    ["ArrowLeft", press("ArrowLeft", { altKey: true }), false],
    // AltGr writes [ on a German keyboard, and reports Ctrl and Alt.
    ["[", press("[", { ctrlKey: true, altKey: true, isAltGraph: true }), true],
    ["mod+k", press("k", { ctrlKey: true, altKey: true, isAltGraph: true }), false],
  ] as const)("%s by %j: %s", (pattern, pressed, is) => expect(pressIs(pressed, pattern)).toBe(is))
})

describe("which binding counts", () => {
  const binding = (keys: string, label = keys): KeyBinding => ({ keys, label, group: "test", run: () => undefined })
  const found = (key: string, first: string | null, ...candidates: KeyBinding[]) => {
    const { binding: one, begins } = bindingOf(press(key), first, candidates)
    return [one?.label ?? null, begins]
  }

  test("the one that came last", () =>
    expect(found("e", null, binding("e", "frame"), binding("e", "page"))).toEqual(["page", null]))
  test("a first key of two begins", () => expect(found("g", null, binding("g o"))).toEqual([null, "g"]))
  test("the second ends it", () => expect(found("o", "g", binding("g o"), binding("o"))).toEqual(["g o", null]))
  test("without the first it is another key", () =>
    expect(found("o", null, binding("g o"), binding("o"))).toEqual(["o", null]))
  test("a second key that belongs to none counts alone", () =>
    expect(found("t", "g", binding("g o"), binding("t"))).toEqual(["t", null]))
  test("an unknown key is none", () => expect(found("q", null, binding("g o"))).toEqual([null, null]))
})

test.each([
  ["g o", ["g", "o"]],
  ["mod+k", ["⌘K"]],
  ["mod+Enter", ["⌘↵"]],
  ["X", ["⇧x"]],
  ["ArrowLeft", ["←"]],
  [" ", ["Space"]],
  ["?", ["?"]],
])("%j is shown as %j", (keys, shown) => expect(shownKeys(keys, true)).toEqual(shown))

test("other keyboards have Ctrl", () => expect(shownKeys("mod+k", false)).toEqual(["Ctrl K"]))
