/** The address of "Train on these": where the rows come from, and what is made of them. */
import { searchChoice, searchKeys, searchList, searchNumber, searchSwitch, searchText } from "../../../url/search.ts"

export const trainSearch = searchKeys({
  /** By default calls. */
  from: searchChoice(["queue", "rollouts", "evaluation", "dataset"]),
  /** The filter of traces, as on their page. */
  q: searchText,
  /** The range of time of traces, as on their page, or of rollouts. */
  since: searchText,
  until: searchText,
  scope: searchChoice(["all"]),
  /** Calls that were picked. */
  ids: searchList,
  /** The queue that is trained on, or whose labels count for rollouts. */
  queue: searchText,
  /** Rollouts that were picked; of none, all of this group with a turn of this step. */
  rollouts: searchList,
  rolloutGroup: searchText,
  step: searchNumber,
  /** Root calls of evaluations. */
  runs: searchList,
  /** Name of a dataset, and its version. */
  dataset: searchText,
  version: searchText,
  /** Learns by reward or from preferences; by default from examples. */
  mode: searchChoice(["rl", "dpo"]),
  /** Name of the model; by default the newest. */
  model: searchText,
  /** It is still to be made. */
  newModel: searchSwitch,
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
