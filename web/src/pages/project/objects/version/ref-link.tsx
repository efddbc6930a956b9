/** A ref as a link to what it names; of a table, which has no page of its own, as words. */
import { TextLink } from "../../../../components/text/link.tsx"
import { refWords, type StoredRef } from "../../../../objects/object-refs.ts"

export function RefLink({ of: ref }: { of: StoredRef }) {
  const { entity, project, kind, name, version, text } = ref
  const words = refWords(ref)
  if (kind === "call") {
    return (
      <TextLink
        to="/$entity/$project/r/call/$call"
        params={{ entity, project, call: name }}
        title={text}
        preload={false}
      >
        {words}
      </TextLink>
    )
  }
  if (version === null) return <code title={text}>{words}</code>
  return (
    <TextLink
      to="/$entity/$project/objects/$name/versions/$version"
      params={{ entity, project, name, version }}
      title={text}
    >
      {words}
    </TextLink>
  )
}
