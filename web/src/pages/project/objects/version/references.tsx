/** Refs in the value: operations, objects, calls. A table has no page; its rows are shown with its dataset. */
import { refsIn } from "../../../../objects/object-refs.ts"
import { RailList, RailNote, RailSection } from "./rail-section.tsx"
import { RefLink } from "./ref-link.tsx"

const mostRefs = 50

export function References({ val }: { val: string }) {
  const refs = refsIn(val).filter(({ kind }) => kind !== "table")
  if (refs.length === 0) return null
  return (
    <RailSection title="Refers to">
      <RailList>
        {refs.slice(0, mostRefs).map((ref) => (
          <li key={ref.text}>
            <RefLink of={ref} />
          </li>
        ))}
      </RailList>
      {refs.length > mostRefs && <RailNote>and {refs.length - mostRefs} more, in the value</RailNote>}
    </RailSection>
  )
}
