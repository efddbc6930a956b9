/** Runs another program for a test. */
import { execFile } from "node:child_process"

interface RunOptions {
  cwd: string
  input?: string
  env?: NodeJS.ProcessEnv
}

/** Its standard output; rejects with all that it wrote when it fails. */
export function runProgram(file: string, args: string[], { cwd, input = "", env }: RunOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, { cwd, env, maxBuffer: 1e8 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(stdout + stderr))
    })
    // A program that reads nothing may have ended by now, and even an empty write would then fail.
    if (input !== "") child.stdin?.write(input)
    child.stdin?.end()
  })
}
