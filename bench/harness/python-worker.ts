/**
 * Starts a Python process that reads a request from each line of JSON on its standard input and writes an answer to its
 * standard output. The counterpart is `python/worker.py`.
 */
import { createInterface } from "node:readline"
import { startProgram } from "./child-process.ts"
import { logFile, pythonScript } from "./paths.ts"

export interface PythonWorker extends AsyncDisposable {
  readonly pid: number
  /** @throws {Error} with the Python traceback when the call fails there. */
  call<Result>(method: string, params?: unknown): Promise<Result>
}

/** Starts a worker; `name` is the name of its log. */
export function startWorker(python: string, script: string, name: string, env: NodeJS.ProcessEnv = {}): PythonWorker {
  const program = startProgram(python, [pythonScript(script)], logFile(name), {
    piped: true,
    env: { ...process.env, PYTHONUNBUFFERED: "1", HF_HUB_OFFLINE: "1", ...env },
  })
  const { stdin, stdout } = program.child
  if (!stdin || !stdout) throw new Error(`${script} has no pipes`)
  const answers = createInterface({ input: stdout })[Symbol.asyncIterator]()
  return {
    pid: program.pid,
    async call<Result>(method: string, params: unknown = {}) {
      program.assertAlive()
      stdin.write(`${JSON.stringify({ method, params })}\n`)
      const line = await answers.next()
      if (line.done) throw new Error(`${script} ended during ${method}:\n${program.logTail()}`)
      const answer = JSON.parse(line.value) as { result: Result } | { error: string }
      if ("error" in answer) throw new Error(`${script}, ${method}: ${answer.error}`)
      return answer.result
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}
