/* global SwaggerUIBundle, SwaggerUIStandalonePreset */
/** Starts the reference page at `/docs`, in the browser. It takes the place of the script that swagger-ui's plugin makes. */
const scheme = "HTTPBearer"
const storedKey = "heddle-docs-key"

/** The key lives as long as the tab: a reload keeps it, and no other tab or later visit gets it. */
const keyOfTab = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (act) => (given) => {
          const key = given[scheme]?.value
          if (typeof key === "string") sessionStorage.setItem(storedKey, key)
          return act(given)
        },
        logout: (act) => (names) => {
          sessionStorage.removeItem(storedKey)
          return act(names)
        },
      },
    },
  },
})

/** Finds operations by every word in their heading, path, summary or description; the page's own search knows headings only. */
const searchEverywhere = () => ({
  fn: {
    opsFilter: (headings, phrase) => {
      const words = phrase.toLowerCase().split(/\s+/).filter(Boolean)
      const matches = (heading) => (entry) => {
        const said = ["summary", "description"].map((field) => entry.getIn(["operation", field]) ?? "")
        const text = [heading, entry.get("method"), entry.get("path"), ...said].join(" ").toLowerCase()
        return words.every((word) => text.includes(word))
      }
      return headings
        .map((group, heading) => group.update("operations", (operations) => operations.filter(matches(heading))))
        .filter((group) => group.get("operations").size > 0)
    },
  },
})

window.addEventListener("load", () => {
  const page = window.location.pathname.replace(/\/?$/, "/")
  const ui = SwaggerUIBundle({
    dom_id: "#swagger-ui",
    // Relative, so that a path prefix of a proxy stays.
    url: new URL("../openapi.json", new URL(page, window.location.href)).href,
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: -1,
    filter: true,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl, keyOfTab, searchEverywhere],
    layout: "StandaloneLayout",
    onComplete: () => {
      document.querySelector(".operation-filter-input")?.setAttribute("placeholder", "Search")
      const key = sessionStorage.getItem(storedKey)
      if (key !== null) ui.preauthorizeApiKey(scheme, key)
    },
  })
})
