/** The way to the next page of a list. */
import { Button } from "../../../components/controls/button.tsx"
import styles from "./more-rows.module.css"

interface MoreRowsProps {
  /** A plural: "models". */
  what: string
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

export function MoreRows({ what, query: { hasNextPage, isFetchingNextPage, fetchNextPage } }: MoreRowsProps) {
  if (!hasNextPage) return null
  return (
    <div className={styles.more}>
      <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {isFetchingNextPage ? `Reading more ${what}…` : `Show more ${what}`}
      </Button>
    </div>
  )
}
