/** The setting that names the template to the server; none where it cannot be made. */
export function ensureCatalogTemplate(): Promise<{ HEDDLE_CATALOG_TEMPLATE?: string }>
