/** Whether another page is on its way: a change of this one's address, made behind somebody's back, would call that off. */
import { useRouter } from "@tanstack/react-router"

export function useIsLeaving(): () => boolean {
  const router = useRouter()
  return () => {
    const shown = router.state.resolvedLocation ?? router.latestLocation
    return router.latestLocation.pathname !== shown.pathname
  }
}
