/** Aliases as Python's package `emoji` 2.16 gives them (`demojize`). */
import { expect, test } from "vitest"
import { nameEmoji } from "./emoji.ts"

test.each([
  ["👍", ":thumbs_up:", "👍", ":thumbs_up:"],
  ["👍🏿", ":thumbs_up_dark_skin_tone:", "👍", ":thumbs_up:"],
  ["❤", ":red_heart:", "❤️", ":red_heart:"],
  ["❤️", ":red_heart:", "❤️", ":red_heart:"],
  ["☝🏽", ":index_pointing_up_medium_skin_tone:", "☝️", ":index_pointing_up:"],
  ["🧔🏻‍♂️", ":man_light_skin_tone_beard:", "🧔‍♂️", ":man_beard:"],
  ["👩🏾‍🦱", ":woman_medium-dark_skin_tone_curly_hair:", "👩‍🦱", ":woman_curly_hair:"],
  ["👩🏼‍💻", ":woman_technologist_medium-light_skin_tone:", "👩‍💻", ":woman_technologist:"],
  ["🫱🏿‍🫲🏻", ":handshake_dark_skin_tone_light_skin_tone:", "🤝", ":handshake:"],
  ["👭🏽", ":women_holding_hands_medium_skin_tone:", "👭", ":women_holding_hands:"],
  ["👩🏿‍🤝‍👨🏼", ":woman_and_man_holding_hands_dark_skin_tone_medium-light_skin_tone:", "👫", ":woman_and_man_holding_hands:"],
  ["👨‍👩‍👧‍👦", ":family_man_woman_girl_boy:", "👨‍👩‍👧‍👦", ":family_man_woman_girl_boy:"],
  ["🇩🇪", ":Germany:", "🇩🇪", ":Germany:"],
  ["🇨🇩", ":Congo-Kinshasa:", "🇨🇩", ":Congo-Kinshasa:"],
  ["⛳", ":flag_in_hole:", "⛳", ":flag_in_hole:"],
  ["1️⃣", ":keycap_1:", "1️⃣", ":keycap_1:"],
  ["🈂️", ":Japanese_service_charge_button:", "🈂️", ":Japanese_service_charge_button:"],
])("objects 2.3: %s is %s", (emoji, alias, detoned, detonedAlias) => {
  expect(nameEmoji(emoji)).toEqual({ alias, detoned, detonedAlias })
})

test.each(["", "a", "1", "👍👍", "👍 ", ":thumbs_up:", "\u200d", "\ufe0f"])(
  "objects 2.3: %j is not one emoji",
  (text) => {
    expect(nameEmoji(text)).toBeNull()
  },
)

test("one that is newer than the list stands for itself", () => {
  expect(nameEmoji("\u{1faeb}")).toEqual({ alias: "\u{1faeb}", detoned: "\u{1faeb}", detonedAlias: "\u{1faeb}" })
})
