import { getRouteApi } from "@tanstack/react-router"
import { useKeys } from "../../../keys/use-keys.ts"
import type { Vote } from "./use-vote.ts"

const route = getRouteApi("/signed-in/$entity/$project/playground/{-$conversation}")

const group = "Playground"
const colorAfter = { surprise: "difference", difference: "off", off: undefined } as const

interface WorkbenchActions {
  vote: Vote
  sendOrRun: () => void
  toNextMessage: () => void
}

export function useWorkbenchKeys({ vote, sendOrRun, toNextMessage }: WorkbenchActions): void {
  const { color = "surprise" } = route.useSearch()
  const navigate = route.useNavigate()
  const { order, canJudge, judge, toggleBlind } = vote
  const nextColor = () =>
    void navigate({ search: (before) => ({ ...before, color: colorAfter[color] }), replace: true })
  useKeys([
    { keys: "mod+Enter", label: "send what is typed, or run all", group, run: sendOrRun },
    { keys: "v", label: "blind vote", group, run: toggleBlind },
    { keys: "h", label: "next colour", group, run: nextColor },
    { keys: "i", label: "next message", group, run: toNextMessage },
    ...order.map((index, place) => ({
      keys: `${place + 1}`,
      label: `column ${place + 1} is better`,
      group,
      run: () => canJudge(index) && judge(index),
    })),
    { keys: "0", label: "no difference", group, run: () => canJudge(null) && judge(null) },
  ])
}
