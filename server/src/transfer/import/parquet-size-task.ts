/** Memory that reading the rows of a Parquet file takes, as its footer tells. */
import { plainTask } from "../../threads/thread-task.ts"
import { largestGroupBytes } from "./parquet-rows.ts"

export const parquetSizeTask = plainTask({
  name: "import/parquet-size",
  ownThreadBytes: 0,
  work: async ({ file, mostColumns }: { file: string; mostColumns: number }) => ({
    bytes: await largestGroupBytes(file, mostColumns),
  }),
})
