/** Memory that reading the rows of a Parquet file takes, as it says itself. */
import { plainTask } from "../../threads/thread-task.ts"
import { largestReadBytes } from "./parquet-rows.ts"

export const parquetSizeTask = plainTask({
  name: "import/parquet-size",
  ownThreadBytes: 0,
  work: async ({ file, mostColumns }: { file: string; mostColumns: number }) => ({
    bytes: await largestReadBytes(file, mostColumns),
  }),
})
