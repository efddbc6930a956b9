/** Tasks that read a body whose payloads stay text. */
import { plainTask, type ThreadTask } from "../../threads/thread-task.ts"

export type BodyTask<T> = ThreadTask<{ bytes: Buffer }, { read: T }>

/** `read`: gives texts and small values. It takes at most a tenth of a second for what is read where it comes. */
export function bodyTask<T>(name: string, read: (bytes: Buffer) => T): BodyTask<T> {
  return plainTask({ name, ownThreadBytes: 128 * 1024, work: ({ bytes }) => ({ read: read(bytes) }) })
}
