/** The address of "Train on these": where the rows come from, and what is made of them. */
import { searchChoice, searchKeys, searchList, searchNumber, searchText } from "../../../url/search.ts"

export const trainSearch = searchKeys({
  /** By default calls. */
  from: searchChoice(["queue", "evaluation", "dataset"]),
  /** The filter of traces, and its range of time, as on their page. */
  q: searchText,
  since: searchText,
  until: searchText,
  scope: searchChoice(["all"]),
  /** Calls that were picked. */
  ids: searchList,
  queue: searchText,
  /** Root calls of evaluations. */
  runs: searchList,
  /** Name of a dataset, and its version. */
  dataset: searchText,
  version: searchText,
  /** Learns by reward or from preferences; by default from examples. */
  mode: searchChoice(["rl", "dpo"]),
  /** Name of the model. */
  model: searchText,
  /** Fields of the score, each with its weight behind an asterisk: `label.tone*0.5`. */
  score: searchList,
  /** Numbers that texts count as: `yes=1`. */
  values: searchList,
  min: searchNumber,
  fix: searchList,
  group: searchText,
  rate: searchText,
  batch: searchNumber,
  /** Where pairs come from; by default scores. */
  pairs: searchChoice(["vote", "fields"]),
  /** Field of votes; by default those of the playground. */
  vote: searchText,
  /** Fields of the better and of the worse answer. */
  chosen: searchText,
  rejected: searchText,
  beta: searchText,
  /** What the model is compared with; by default the step that training starts from. */
  reference: searchChoice(["base"]),
})

export type TrainSearch = ReturnType<typeof trainSearch>

export function modeOf({ mode }: TrainSearch): "sft" | "rl" | "dpo" {
  return mode ?? "sft"
}
