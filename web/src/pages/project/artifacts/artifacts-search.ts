import { searchKeys, searchText } from "../../../url/search.ts"

/** `type`: only artifacts of it, or `*` for all. Without it those are left out that the client makes of tables. */
export const artifactsSearch = searchKeys({ type: searchText })

/** `v`: a version, as `v3`, or an alias; without it the newest. */
export const artifactSearch = searchKeys({ v: searchText })
