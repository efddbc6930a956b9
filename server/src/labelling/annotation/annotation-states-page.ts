/** The table of an annotator's states as a page of the reference. */
import {
  annotationEventMeanings,
  annotationEvents,
  type AnnotationOutcome,
  annotationStates,
  annotationTransitions,
} from "./annotation-states.ts"

export function annotationStatesPage(): string {
  const rows = annotationEvents.map((event) => {
    const cells = annotationStates.map((state) => cellTexts[annotationTransitions[state][event]])
    return `| **${event}**: ${annotationEventMeanings[event]} | ${cells.join(" | ")} |`
  })
  return [
    "# States of an annotator's work on an item",
    "",
    "Printed from `server/src/labelling/annotation/annotation-states.ts`; change it there.",
    "Each annotator has a state of their own on each item. A cell says where an event takes it.",
    "A dot: nothing changes, and the answer is 200. *refused*: 400.",
    "",
    `| Event | ${annotationStates.join(" | ")} |`,
    `|---|${annotationStates.map(() => "---|").join("")}`,
    ...rows,
    "",
  ].join("\n")
}

const cellTexts: Record<AnnotationOutcome, string> = {
  in_progress: "in_progress",
  completed: "completed",
  skipped: "skipped",
  same: "·",
  refused: "*refused*",
}
