/** The part of the playground that is in its address: models, parameters, and a small conversation. */
import { searchChoice, searchKeys, searchList, searchSwitch, searchText } from "../../../url/search.ts"

export const answerColors = ["surprise", "difference", "off"] as const
export type AnswerColor = (typeof answerColors)[number]

export const playgroundSearch = searchKeys({
  /** Models, a column each. */
  m: searchList,
  /** A recorded call to go on from. */
  from: searchText,
  /** A conversation that nothing was answered to yet. */
  system: searchText,
  user: searchText,
  temperature: searchText,
  top_p: searchText,
  max_tokens: searchText,
  seed: searchText,
  stop: searchList,
  /** Surprise unless it says otherwise. */
  color: searchChoice(["difference", "off"]),
  /** Which model answered is hidden until somebody has voted. */
  blind: searchSwitch,
})

export type PlaygroundSearch = ReturnType<typeof playgroundSearch>
