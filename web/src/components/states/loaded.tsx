/**
 * What is shown of a query: a skeleton, an error, or the data. Data that was shown stays while newer is read, and when a
 * later reading fails, with the error above it.
 */
import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { ErrorNote } from "./error-note.tsx"
import { SkeletonRows } from "./skeleton.tsx"
import styles from "./loaded.module.css"

interface LoadedProps<Data> {
  query: Pick<UseQueryResult<Data>, "data" | "error"> & { refetch: () => unknown }
  /** A plural: "calls". */
  what: string
  /** A skeleton of another shape than rows. */
  skeleton?: ReactNode
  children: (data: Data) => ReactNode
}

export function Loaded<Data>({ query, what, skeleton, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query
  return (
    <>
      {error && (
        <div className={styles.error}>
          <ErrorNote what={`The ${what} could not be read.`} error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {data === undefined ? !error && (skeleton ?? <SkeletonRows what={`Reading ${what}`} />) : children(data)}
    </>
  )
}
