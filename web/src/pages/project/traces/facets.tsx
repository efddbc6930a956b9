/** Beside the table: which values there are and how often. Boxes write the filter, and follow what is typed into it. */
import { useState } from "react"
import { useSession } from "../../../api/session.ts"
import { checkedValues, toggledFacet } from "../../../calls/filter/facet-clauses.ts"
import { type Clause, printFilter } from "../../../calls/filter/filter-text.ts"
import { Checkbox } from "../../../components/controls/field.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { shortId } from "../../../format/ids.ts"
import { formatAtLeast, formatExact } from "../../../format/numbers.ts"
import { formatMoment } from "../../../format/times.ts"
import { readRef, refWords } from "../../../objects/object-refs.ts"
import styles from "./facets.module.css"
import type { Facet, useFacets } from "./use-facets.ts"

export interface FacetsProps {
  counted: ReturnType<typeof useFacets>
  clauses: readonly Clause[]
  onFilter: (text: string) => void
  onCountAll: () => void
}

const mostCollapsed = 5

export function Facets({ counted, clauses, onFilter, onCountAll }: FacetsProps) {
  const { facets, countedFrom, error, retry } = counted
  const shown = facets.filter((facet) => !hasNone(facet, clauses))
  return (
    <section className={styles.pane} aria-label="Values">
      {error !== null && <ErrorNote what="The values could not be counted." error={error} onRetry={retry} />}
      {countedFrom !== undefined && (
        <p className={styles.partial}>
          Counted back to {formatMoment(new Date(countedFrom))}.{" "}
          <button type="button" className={styles.link} onClick={onCountAll}>
            Count all
          </button>
        </p>
      )}
      {shown.length === 0 && <p className={styles.partial}>No call here has a value to choose.</p>}
      {shown.map((facet) => (
        <FacetValues
          key={facet.field}
          facet={facet}
          isWhole={countedFrom === undefined}
          checked={checkedValues(clauses, facet.field)}
          onToggle={(value) => onFilter(printFilter(toggledFacet(clauses, facet.field, value)))}
        />
      ))}
    </section>
  )
}

/** A field that no call has, and that the filter does not name. */
function hasNone({ field, values }: Facet, clauses: readonly Clause[]): boolean {
  return values?.every(({ value }) => value === null) === true && checkedValues(clauses, field).size === 0
}

interface FacetValuesProps {
  facet: Facet
  isWhole: boolean
  checked: ReadonlySet<string | null>
  onToggle: (value: string | null) => void
}

function FacetValues({ facet: { field, title, values }, isWhole, checked, onToggle }: FacetValuesProps) {
  const [isAll, setAll] = useState(false)
  const { user } = useSession()
  const found = values ?? []
  // A value that the filter names stays listed even if no call has it.
  const absent = [...checked].filter((value) => !found.some((one) => one.value === value))
  const listed = [...found, ...absent.map((value) => ({ value, count: 0 }))]
  const shown = isAll ? listed : listed.filter(({ value }, index) => index < mostCollapsed || checked.has(value))
  return (
    <fieldset className={styles.facet} aria-busy={values === undefined}>
      <legend className={styles.title}>{title}</legend>
      {values === undefined && <i className={styles.waiting} />}
      {shown.map(({ value, count }) => (
        <div key={value ?? ""} className={styles.value}>
          <span className={styles.name} title={value ?? `without a ${title.toLowerCase()}`}>
            <Checkbox
              label={field === "user" && value === user.id ? "you" : nameOf(value)}
              checked={checked.has(value)}
              onChange={() => onToggle(value)}
            />
          </span>
          <span className={styles.count} title={isWhole ? formatExact(count) : `at least ${formatExact(count)}`}>
            {values !== undefined && formatAtLeast(count, isWhole)}
          </span>
        </div>
      ))}
      {listed.length > shown.length && (
        <button type="button" className={styles.link} onClick={() => setAll(true)}>
          {formatExact(listed.length - shown.length)} more
        </button>
      )}
      {isAll && listed.length > mostCollapsed && (
        <button type="button" className={styles.link} onClick={() => setAll(false)}>
          Fewer
        </button>
      )}
    </fieldset>
  )
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The part of an id that tells it from others; hovering shows the whole. */
function nameOf(value: string | null): string {
  if (value === null) return "none"
  // Of versions of one model the beginning is the same.
  const ref = readRef(value)
  if (ref !== null) return refWords(ref)
  return uuid.test(value) ? shortId(value) : value
}
