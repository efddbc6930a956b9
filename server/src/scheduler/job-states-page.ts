/** The job table as a page of the reference. */
import { jobEventMeanings, jobEvents, jobStates, jobTransitions, type JobTransition } from "./job-states.ts"

export function jobStatesPage(): string {
  const header = `| Event | ${jobStates.join(" | ")} |`
  const rule = `|---|${jobStates.map(() => "---|").join("")}`
  const rows = jobEvents.map((event) => {
    const cells = jobStates.map((state) => cell(jobTransitions[state][event]))
    return `| **${event}**: ${jobEventMeanings[event]} | ${cells.join(" | ")} |`
  })
  return [
    "# States of a training job",
    "",
    "Printed from `server/src/scheduler/job-states.ts`; change it there.",
    "A cell says where an event takes a job, and which terminal event it writes. A dot: the event changes nothing.",
    "",
    header,
    rule,
    ...rows,
    "",
  ].join("\n")
}

function cell(transition: JobTransition | null): string {
  if (transition === null) return "·"
  return transition.terminal === null ? transition.to : `${transition.to}, \`${transition.terminal}\``
}
