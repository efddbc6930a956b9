/** The address stands for calls that were selected elsewhere: in another browser, or long ago. */
import { LinkButton } from "../../components/controls/button.tsx"
import { Empty } from "../../components/states/empty.tsx"
import { mostInAddress } from "../../kept/kept-list.ts"
import { useProjectOfPage } from "../../shell/current-project.ts"

export function LostSelection() {
  const { entity, project } = useProjectOfPage()
  return (
    <Empty
      title="The selection is not known here"
      actions={
        <LinkButton kind="primary" to="/$entity/$project/traces" params={{ entity, project }}>
          Select calls
        </LinkButton>
      }
    >
      More than {mostInAddress} calls are too many for an address: the browser in which they were selected keeps them,
      for the twenty newest selections.
    </Empty>
  )
}
