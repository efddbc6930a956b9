/** Asks the reference server in its Python process. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

export interface ReferenceServer extends AsyncDisposable {
  /** Rejects with the reference's own message when it refuses. */
  call<T>(method: string, request: object): Promise<T>
}

/** `python`: of an environment with `requirements.txt`. */
export function startReference(python: string): ReferenceServer {
  const child = spawn(python, [`${import.meta.dirname}/sqlite_worker.py`], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, WANDB_ERROR_REPORTING: "false", WEAVE_DISABLED: "true" },
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let last: Promise<unknown> = Promise.resolve()
  const ask = async (method: string, request: object) => {
    child.stdin.write(`${JSON.stringify({ method, request })}\n`)
    const line = await lines.next()
    if (line.done === true) throw new Error("the reference server ended; its output is above")
    const answer = JSON.parse(line.value) as { result?: unknown; error?: string }
    if (answer.error !== undefined) throw new Error(answer.error)
    return answer.result
  }
  return {
    call<T>(method: string, request: object) {
      const result = last.then(() => ask(method, request))
      last = result.catch(() => undefined)
      return result as Promise<T>
    },
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once("exit", resolve))
      child.stdin.end()
      await ended
    },
  }
}
