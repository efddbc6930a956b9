/** An attacker on a thread of its own: `attacker-thread.ts`. */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import type { AttackerNews, AttackerTask } from "./attacker-thread.ts"

export interface Attacker {
  begin: () => void
  /** Closes all its connections and returns how often each outcome came. */
  leave: () => Promise<Record<string, number>>
}

/** Starts an attacker's thread; resolves when the data that the attack needs is stored. */
export async function prepareAttacker(task: AttackerTask): Promise<Attacker> {
  const thread = new Worker(new URL("attacker-thread.ts", import.meta.url), { workerData: task })
  await newsOf(thread)
  return {
    begin: () => thread.postMessage("begin"),
    leave: async () => {
      thread.postMessage("leave")
      const counts = await newsOf(thread)
      if (counts === "ready") throw new Error("the attacker did not say what it was answered")
      return counts
    },
  }
}

/** The thread's next message. Rejects when the thread fails. */
async function newsOf(thread: Worker): Promise<AttackerNews> {
  const [news] = (await once(thread, "message")) as [AttackerNews]
  return news
}
