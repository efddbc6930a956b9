/** Usage and settings: what stands beside a project's work, a section an address. */
import { getRouteApi, Link } from "@tanstack/react-router"
import { type ReactNode, useEffect, useRef } from "react"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { useProjectOfPage } from "../../../shell/current-project.ts"
import { AuditSection } from "./audit/audit-section.tsx"
import { KeysSection } from "./keys/keys-section.tsx"
import { MembersSection } from "./members/members-section.tsx"
import { OutsideSection } from "./outside/outside-section.tsx"
import { PeopleSection } from "./people/people-section.tsx"
import { ProjectSection } from "./project/project-section.tsx"
import { QuotasSection } from "./quotas/quotas-section.tsx"
import { RefusedSection } from "./refused/refused-section.tsx"
import { SessionsSection } from "./sessions/sessions-section.tsx"
import { ScoringSection } from "./scoring/scoring-section.tsx"
import { sectionGroups, sectionName } from "./section-names.ts"
import { ServerSection } from "./server/server-section.tsx"
import type { SettingsSection } from "./settings-search.ts"
import { StorageSection } from "./storage/storage-section.tsx"
import { UsageSection } from "./usage/usage-section.tsx"
import styles from "./settings-page.module.css"

const route = getRouteApi("/signed-in/$entity/$project/settings/$section")

const bodies: Record<SettingsSection, () => ReactNode> = {
  keys: KeysSection,
  sessions: SessionsSection,
  usage: UsageSection,
  quotas: QuotasSection,
  members: MembersSection,
  people: PeopleSection,
  storage: StorageSection,
  scoring: ScoringSection,
  outside: OutsideSection,
  project: ProjectSection,
  refused: RefusedSection,
  audit: AuditSection,
  server: ServerSection,
}

export function SettingsPage() {
  const { entity, project, section } = route.useParams()
  const { id } = useProjectOfPage()
  const Body = bodies[section as SettingsSection]
  const list = useRef<HTMLElement>(null)
  // The list's own scrolling: on a narrow screen it is one line, and the section that is shown may be out of it.
  useEffect(() => {
    list.current?.querySelector(`[href$="/${section}"]`)?.scrollIntoView({ block: "nearest", inline: "center" })
  }, [section])
  return (
    <>
      <PageBar title="Usage & settings" tab={sectionName(section)} aside={id} />
      <div className={styles.layout}>
        <nav ref={list} className={styles.sections} aria-label="Settings">
          {sectionGroups.map(({ name, sections }) => (
            <div key={name} className={styles.group} role="group" aria-label={name}>
              <span className={styles.groupName}>{name}</span>
              {sections.map(({ id: to, label, icon }) => (
                <Link
                  key={to}
                  to="/$entity/$project/settings/$section"
                  params={{ entity, project, section: to }}
                  activeOptions={{ includeSearch: false }}
                  className={styles.entry}
                >
                  <Icon of={icon} size={14} />
                  {label}
                </Link>
              ))}
            </div>
          ))}
        </nav>
        <div className={styles.body}>
          <Body key={section} />
        </div>
      </div>
    </>
  )
}
