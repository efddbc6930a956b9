/** The navigation: project, search, sections, settings, theme, account. */
import { Link, useMatches } from "@tanstack/react-router"
import { Keyboard, Moon, Search, Settings, Sun } from "lucide-react"
import { useSession } from "../api/session.ts"
import { classNames } from "../components/class-names.ts"
import { Avatar } from "../components/signs/avatar.tsx"
import { Icon } from "../components/signs/icon.tsx"
import { Keys } from "../components/signs/keys.tsx"
import { toggleTheme, useTheme } from "../theme/theme.ts"
import { useCurrentProject } from "./current-project.ts"
import { Mark } from "./mark.tsx"
import { ProjectSwitcher } from "./project-switcher.tsx"
import { sections } from "./sections.ts"
import styles from "./navigation.module.css"

interface NavigationProps {
  /** A rail shows icons alone, to leave room for a page that needs it. */
  isRail: boolean
  onSearch: () => void
  onKeys: () => void
  onAccount: () => void
}

export function Navigation({ isRail, onSearch, onKeys, onAccount }: NavigationProps) {
  const project = useCurrentProject()
  const { user } = useSession()
  const theme = useTheme()
  const page = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? "" })
  const otherTheme = theme === "dark" ? "Light" : "Dark"
  return (
    <nav className={classNames(styles.navigation, isRail && styles.rail)} aria-label="Main">
      <Link to="/" className={styles.brand} aria-label="Heddle, all projects">
        <Mark />
        <b className={styles.words}>Heddle</b>
      </Link>
      <ProjectSwitcher />
      <button type="button" className={styles.search} onClick={onSearch} title="Search or jump">
        <Icon of={Search} size={14} />
        <span className={styles.words}>Search or jump</span>
        <span className={styles.keys}>
          <Keys of="mod+k" />
        </span>
      </button>
      {project !== null &&
        sections.map(({ to, also = [], label, icon }) => (
          <Link
            key={to}
            to={to}
            params={project.params}
            activeOptions={{ exact: to === "/$entity/$project", includeSearch: false }}
            className={styles.entry}
            title={label}
            {...(also.some((list) => page.startsWith(list)) ? { "data-status": "active", "aria-current": "page" } : {})}
            preload="intent"
          >
            <Icon of={icon} />
            <span className={styles.words}>{label}</span>
          </Link>
        ))}
      <div className={styles.foot}>
        {project !== null && (
          <Link
            to="/$entity/$project/settings"
            params={project.params}
            activeOptions={{ includeSearch: false }}
            className={styles.entry}
            title="Usage & settings"
          >
            <Icon of={Settings} />
            <span className={styles.words}>Usage & settings</span>
          </Link>
        )}
        <button type="button" className={styles.entry} onClick={onKeys} title="Keys">
          <Icon of={Keyboard} />
          <span className={styles.words}>Keys</span>
        </button>
        <button type="button" className={styles.entry} onClick={toggleTheme} title={`${otherTheme} theme`}>
          <Icon of={theme === "dark" ? Sun : Moon} />
          <span className={styles.words}>{otherTheme}</span>
        </button>
        <button type="button" className={styles.entry} onClick={onAccount} title={`Account of ${user.username}`}>
          <Avatar name={user.username} />
          <span className={styles.words}>{user.username}</span>
        </button>
      </div>
    </nav>
  )
}
