/** A section whose page is not built yet: it says so, and where the same can be had today. */
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { OuterLink } from "../../../components/text/link.tsx"
import { addressOf } from "../../../base-path.ts"

export function LaterPage() {
  return (
    <>
      <PageBar title="Not here yet" />
      <Empty title="This page comes with a later version">
        <p>
          The server can do this already: the <OuterLink href={addressOf("/docs/")}>API reference</OuterLink> has every
          call, and the unmodified clients of W&B Training, Inference and Weave use them.
        </p>
      </Empty>
    </>
  )
}
