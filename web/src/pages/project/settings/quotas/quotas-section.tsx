/** Limits and use of a team. Administrators change the limits. */
import type { TeamQuotas } from "@heddle/server/wire/platform/quota.ts"
import { getRouteApi } from "@tanstack/react-router"
import { useState } from "react"
import { useUsers } from "../../../../api/organization/organization.ts"
import { useTeamQuotas } from "../../../../api/organization/quotas.ts"
import { useSession } from "../../../../api/session.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { SelectField } from "../../../../components/controls/field.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Meter } from "../../../../components/signs/meter.tsx"
import { Status } from "../../../../components/signs/status.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { formatExact } from "../../../../format/numbers.ts"
import { useProjectOfPage } from "../../../../shell/current-project.ts"
import { SectionHead } from "../section-head.tsx"
import { ChangeQuota } from "./change-quota.tsx"
import { formatQuota, quotaState, quotaWords } from "./quota-words.ts"
import styles from "./quotas-section.module.css"

const route = getRouteApi("/signed-in/$entity/$project/settings/$section")

type Quota = TeamQuotas["quotas"][number]

const heads = [
  { name: "Quota", className: styles.name },
  { name: "Used", className: styles.used },
  { name: "Limit", className: styles.limit },
  { name: "State", className: styles.state },
  { name: "Set", className: styles.set },
]

export function QuotasSection() {
  const { user } = useSession()
  const { entity } = useProjectOfPage()
  const { team = entity } = route.useSearch()
  const navigate = route.useNavigate()
  const users = useUsers({ enabled: user.is_admin })
  const quotas = useTeamQuotas(team)
  const teams = new Set([team, ...user.entities, ...(users.data?.data ?? []).flatMap(({ entities }) => entities)])
  return (
    <>
      <SectionHead
        title="Quotas"
        actions={
          teams.size > 1 && (
            <SelectField
              label="Team"
              isLabelHidden
              value={team}
              onChange={({ target }) =>
                void navigate({ search: { team: target.value === entity ? undefined : target.value } })
              }
            >
              {[...teams].toSorted().map((name) => (
                <option key={name}>{name}</option>
              ))}
            </SelectField>
          )
        }
      >
        What the team {team} may hold. A request beyond it is refused, and says which quota it was.{" "}
        {user.is_admin
          ? "A new limit holds at once; nothing is deleted for it."
          : "Only an administrator changes a quota."}
      </SectionHead>
      <Loaded query={quotas} what="quotas">
        {(found) => (
          <PlainTable
            label={`Quotas of ${found.team}`}
            heads={user.is_admin ? [...heads, { name: "Actions", className: styles.action }] : heads}
          >
            {found.quotas.map((quota) => (
              <QuotaRow key={quota.name} team={found.team} quota={quota} mayChange={user.is_admin} />
            ))}
          </PlainTable>
        )}
      </Loaded>
    </>
  )
}

function QuotaRow({ team, quota, mayChange }: { team: string; quota: Quota; mayChange: boolean }) {
  const [isChanging, setChanging] = useState(false)
  const { name, limit, used, is_default: isDefault } = quota
  const words = quotaWords[name]
  const state = used === null ? null : quotaState(used, limit)
  return (
    <tr>
      <td className={styles.name}>
        <span className={styles.title}>{words.name}</span> <span className={styles.note}>{words.note}</span>
      </td>
      <td className={styles.used}>
        {used === null ? (
          <span className={styles.note}>counted for each key</span>
        ) : (
          <span className={styles.meter} title={formatExact(used)}>
            <Meter share={limit === 0 ? 1 : used / limit} label={`${words.name}: used`} />
            {formatQuota(name, used)}
          </span>
        )}
      </td>
      <td className={styles.limit} title={formatExact(limit)}>
        {formatQuota(name, limit)}
      </td>
      <td className={styles.state}>
        {state !== null && <Status of={state === "full" ? "error" : "warning"}>{state}</Status>}
      </td>
      <td className={styles.set}>{isDefault ? "as for every team" : "for this team"}</td>
      {mayChange && (
        <td className={styles.action}>
          <Button
            size="small"
            kind="quiet"
            aria-label={`Change ${words.name} of ${team}`}
            onClick={() => setChanging(true)}
          >
            Change…
          </Button>
          {isChanging && <ChangeQuota team={team} quota={quota} onClose={() => setChanging(false)} />}
        </td>
      )}
    </tr>
  )
}
