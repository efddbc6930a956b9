/** Files of a run: those that the client stores when it ends, and what the program saved. */
import { fileAddress } from "../../../../api/files.ts"
import { type OfRun, useRunFiles } from "../../../../api/runs/runs.ts"
import { FilesSection } from "../../files/files-section.tsx"

export function RunFiles({ of, count }: { of: OfRun; count: number }) {
  return (
    <FilesSection
      label="Files of the run"
      query={useRunFiles(of, count)}
      count={count}
      none="The client stores files when the run ends."
      placeOf={({ name }) => ({ address: fileAddress({ run: of, path: name }, {}) })}
    />
  )
}
