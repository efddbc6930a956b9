/** Who published a version or made a call. Names of others are for administrators; their ids tell them apart. */
import { useSession } from "../../../api/session.ts"
import { ShortId } from "../../../components/signs/figures.tsx"

export function Publisher({ id }: { id: string }) {
  const { user } = useSession()
  return id === user.id ? <span title={user.username}>you</span> : <ShortId of={id} />
}
