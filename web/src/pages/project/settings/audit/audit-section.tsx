/** Who changed keys, users, teams and quotas, who signed in, and who deleted what. */
import type { AuditLog } from "@heddle/server/wire/platform/audit-log.ts"
import { getRouteApi } from "@tanstack/react-router"
import { Server } from "lucide-react"
import type { ReactNode } from "react"
import { useApiKeys } from "../../../../api/organization/api-keys.ts"
import { useAuditLogs } from "../../../../api/organization/audit-logs.ts"
import { useUsers } from "../../../../api/organization/organization.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { SelectField } from "../../../../components/controls/field.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Avatar } from "../../../../components/signs/avatar.tsx"
import { ShortId } from "../../../../components/signs/figures.tsx"
import { Icon } from "../../../../components/signs/icon.tsx"
import { Status } from "../../../../components/signs/status.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { MoreRows } from "../../training/more-rows.tsx"
import { ForAdministrators } from "../for-administrators.tsx"
import { SectionHead } from "../section-head.tsx"
import styles from "./audit-section.module.css"
import { actorOf, auditTypes, detailsOf, isAuditType } from "./audit-words.ts"

const route = getRouteApi("/signed-in/$entity/$project/settings/$section")

const heads = [
  { name: "Time", className: styles.time },
  { name: "Who", className: styles.who },
  { name: "What", className: styles.what },
  { name: "Team", className: styles.team },
  { name: "Change", className: styles.change },
  { name: "With the key", className: styles.with },
  { name: "Request", className: styles.request },
]

export function AuditSection() {
  return (
    <>
      <SectionHead title="Record of changes">
        Changes of keys, users, teams and quotas, sign-ins, and what was deleted: by whom, and with which key. It cannot
        be edited.
      </SectionHead>
      <ForAdministrators what="The record of changes">{() => <Entries />}</ForAdministrators>
    </>
  )
}

function Entries() {
  const { type, who, team } = route.useSearch()
  const navigate = route.useNavigate()
  const users = useUsers({ enabled: true })
  const known = users.data?.data ?? []
  const actor = known.find(({ username }) => username === who)
  // The record knows users by their ids: until that of a name is known, what is shown would be of everybody.
  const isOfNobody = who !== undefined && actor === undefined
  const logs = useAuditLogs(
    {
      ...(isAuditType(type) ? { "event_types[]": [type] } : {}),
      ...(actor === undefined ? {} : { "actor_ids[]": [actor.id] }),
      ...(team === undefined ? {} : { "teams[]": [team] }),
    },
    { enabled: !isOfNobody },
  )
  const teams = new Set([...(team === undefined ? [] : [team]), ...known.flatMap(({ entities }) => entities)])
  const showAll = () => void navigate({ search: {} })
  const choose = (key: "type" | "who" | "team") => (event: { target: { value: string } }) =>
    void navigate({ search: (before) => ({ ...before, [key]: event.target.value || undefined }) })
  return (
    <>
      <form className={styles.filter} role="search" aria-label="Filter the record">
        <SelectField label="What" isLabelHidden value={type ?? ""} onChange={choose("type")}>
          <option value="">every change</option>
          {auditTypes.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
        <SelectField label="Who" isLabelHidden value={who ?? ""} onChange={choose("who")}>
          <option value="">everybody</option>
          {isOfNobody && <option>{who}</option>}
          {known.map(({ id, username }) => (
            <option key={id}>{username}</option>
          ))}
        </SelectField>
        <SelectField label="Team" isLabelHidden value={team ?? ""} onChange={choose("team")}>
          <option value="">every team</option>
          {[...teams].toSorted().map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
      </form>
      {isOfNobody ? (
        <Loaded query={users} what="users">
          {() => <NoChange onAll={showAll}>This server has no user “{who}”.</NoChange>}
        </Loaded>
      ) : (
        <>
          <Loaded query={logs} what="record">
            {(entries) =>
              entries.length === 0 ? (
                <NoChange onAll={showAll}>Nothing in the record is of that kind.</NoChange>
              ) : (
                <PlainTable label="Record of changes" heads={heads}>
                  {entries.map((entry) => (
                    <EntryRow key={entry.id} entry={entry} />
                  ))}
                </PlainTable>
              )
            }
          </Loaded>
          <MoreRows what="changes" query={logs} />
        </>
      )}
    </>
  )
}

function NoChange({ onAll, children }: { onAll: () => void; children: ReactNode }) {
  return (
    <Empty title="No such change" actions={<Button onClick={onAll}>Show every change</Button>}>
      {children}
    </Empty>
  )
}

function EntryRow({ entry }: { entry: AuditLog }) {
  const { type, outcome, effective_at: seconds, team, request_id: request } = entry
  const actor = actorOf(entry)
  const details = detailsOf(entry)
  return (
    <tr>
      <td className={styles.time}>
        <Time at={new Date(seconds * 1000)} />
      </td>
      <td className={styles.who}>
        <span className={styles.actor}>
          {actor === null ? (
            <>
              <Icon of={Server} size={14} /> the server
            </>
          ) : (
            <>
              <Avatar name={actor.username} /> {actor.username}
            </>
          )}
        </span>
      </td>
      <td className={styles.what}>
        <code>{type}</code>{" "}
        {outcome !== "succeeded" && <Status of={outcome === "failed" ? "failed" : "running"}>{outcome}</Status>}
      </td>
      <td className={styles.team}>{team}</td>
      <td className={styles.change} title={details}>
        {details}
      </td>
      <td className={styles.with}>{actor !== null && <KeyName id={actor.apiKeyId} />}</td>
      <td className={styles.request}>{request !== null && <ShortId of={request} />}</td>
    </tr>
  )
}

/** Name of a live key, or id of an ended one. */
function KeyName({ id }: { id: string }) {
  const keys = useApiKeys()
  const name = keys.data?.data.find((key) => key.id === id)?.name
  return name === undefined ? <ShortId of={id} /> : <span title={id}>{name}</span>
}
