/** API keys: those that live, a new one, and the end of one. */
import type { ApiKey } from "@heddle/server/wire/platform/account.ts"
import { getRouteApi } from "@tanstack/react-router"
import { Plus } from "lucide-react"
import { useState } from "react"
import { type CreatedApiKey, useApiKeys } from "../../../../api/organization/api-keys.ts"
import { useSession } from "../../../../api/session.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Segmented } from "../../../../components/controls/segmented.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { SectionHead } from "../section-head.tsx"
import { KeyEnd } from "./key-end.tsx"
import { scopeWords } from "./key-scopes.ts"
import { MadeKey } from "./made-key.tsx"
import { NewKey } from "./new-key.tsx"
import { RevokeKey } from "./revoke-key.tsx"
import styles from "./keys-section.module.css"

const route = getRouteApi("/signed-in/$entity/$project/settings/$section")

/** While somebody waits for the first use of a key. */
const firstUseMs = 3_000

const heads = [
  { name: "Name", className: styles.name },
  { name: "Last four", className: styles.hint },
  { name: "Owner", className: styles.owner },
  { name: "For", className: styles.scope },
  { name: "Made", className: styles.time },
  { name: "Last use", className: styles.time },
  { name: "Ends", className: styles.end },
  { name: "Actions", className: styles.action },
]

export function KeysSection() {
  const { user } = useSession()
  const { whose } = route.useSearch()
  const navigate = route.useNavigate()
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<CreatedApiKey | null>(null)
  const keys = useApiKeys({ refetchInterval: made === null ? false : firstUseMs })
  const isOfAll = whose !== "mine"
  const shown = (all: readonly ApiKey[]) => all.filter(({ username }) => isOfAll || username === user.username)
  // An administrator of a team is told of the keys of its programs.
  const hasOthers = keys.data?.data.some(({ username }) => username !== user.username) ?? false
  return (
    <>
      <SectionHead
        title="API keys"
        actions={
          <>
            {(user.is_admin || hasOthers || !isOfAll) && (
              <Segmented
                label="Whose keys"
                value={isOfAll ? "all" : "mine"}
                segments={[
                  { value: "all", label: user.is_admin ? "Everybody’s" : "Mine and of programs" },
                  { value: "mine", label: "Mine" },
                ]}
                onChange={(next) => void navigate({ search: { whose: next === "mine" ? next : undefined } })}
              />
            )}
            <Button kind="primary" icon={Plus} onClick={() => setMaking(true)}>
              New key
            </Button>
          </>
        }
      >
        A key is shown once and stored hashed. It may do what its owner may, in every project of the owner’s teams, as
        far as what it is for allows; give each program its own, so that one can end without the others.
      </SectionHead>
      {made !== null && (
        <MadeKey
          made={made}
          lastUse={keys.data?.data.find(({ id }) => id === made.id)?.last_used_at ?? null}
          onDone={() => setMade(null)}
        />
      )}
      <Loaded query={keys} what="keys">
        {({ data }) =>
          shown(data).length === 0 ? (
            <Empty title="No keys">You are signed in by another way. A program needs a key of its own.</Empty>
          ) : (
            <PlainTable label="API keys" heads={heads}>
              {shown(data).map((key) => (
                <KeyRow key={key.id} apiKey={key} />
              ))}
            </PlainTable>
          )
        }
      </Loaded>
      {isMaking && <NewKey onMade={setMade} onClose={() => setMaking(false)} />}
    </>
  )
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const { name, username, scope, redacted_value: hint, created_at: made, last_used_at: used, expires_at: end } = apiKey
  return (
    <tr>
      <td className={styles.name} title={name}>
        {name}
      </td>
      <td className={styles.hint}>
        <code>{hint}</code>
      </td>
      <td className={styles.owner} title={username}>
        {username}
      </td>
      <td className={styles.scope}>
        <Tag title={scopeWords[scope].hint}>{scopeWords[scope].name}</Tag>
      </td>
      <td className={styles.time}>
        <Time at={made} />
      </td>
      <td className={styles.time}>{used === null ? "never" : <Time at={used} show="ago" />}</td>
      <td className={styles.end}>
        <KeyEnd at={end} />
      </td>
      <td className={styles.action}>
        <RevokeKey apiKey={apiKey} />
      </td>
    </tr>
  )
}
