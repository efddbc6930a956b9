/**
 * Every address of the interface. A page is a folder under `pages/` that follows its address; its code is loaded when
 * somebody goes there. What of a page is worth sharing is in its search keys, described by `validateSearch`.
 */
import {
  createRootRoute,
  createRoute,
  createRouter,
  notFound,
  Outlet,
  redirect,
  useMatches,
} from "@tanstack/react-router"
import { ApiError } from "./api/api-error.ts"
import { takeTab } from "./api/last-user.ts"
import { queryClient } from "./api/queries.ts"
import { sessionQuery } from "./api/session.ts"
import { basePath } from "./base-path.ts"
import { callComparisonSearch } from "./pages/project/call-comparison/call-comparison-search.ts"
import { compareSearch } from "./pages/project/compare/compare-search.ts"
import { evaluationSearch } from "./pages/project/evaluations/evaluation/evaluation-search.ts"
import { clientSearch } from "./pages/project/first-run/first-run-search.ts"
import { jobSearch } from "./pages/project/jobs/job/job-search.ts"
import { jobsSearch } from "./pages/project/jobs/jobs-search.ts"
import { trajectorySearch } from "./pages/project/jobs/trajectory/trajectory-search.ts"
import { modelSearch } from "./pages/project/models/model/model-search.ts"
import { objectsSearch } from "./pages/project/objects/objects-search.ts"
import { versionSearch } from "./pages/project/objects/version/version-search.ts"
import { overviewKeys } from "./pages/project/overview/overview-search.ts"
import { playgroundSearch } from "./pages/project/playground/playground-search.ts"
import { labelSearch } from "./pages/project/queues/label/label-search.ts"
import { newQueueSearch } from "./pages/project/queues/new/new-queue-search.ts"
import { queueSearch } from "./pages/project/queues/queue/queue-search.ts"
import { isSettingsSection, settingsSearch, settingsSections } from "./pages/project/settings/settings-search.ts"
import { artifactSearch, artifactsSearch } from "./pages/project/artifacts/artifacts-search.ts"
import { runComparisonSearch } from "./pages/project/runs/comparison/run-comparison-search.ts"
import { runSearch } from "./pages/project/runs/run/run-search.ts"
import { runsSearch } from "./pages/project/runs/runs-search.ts"
import { traceSearch } from "./pages/project/trace/trace-search.ts"
import { trainSearch } from "./pages/project/train/train-search.ts"
import { tracesSearch } from "./pages/project/traces/traces-search.ts"
import { isProjectName } from "./shell/current-project.ts"
import { Frame } from "./shell/frame.tsx"
import { pageCode } from "./shell/page-code.ts"
import { NoSuchPage, PageError } from "./shell/page-error.tsx"
import { parseSearch, searchKeys, searchText, stringifySearch } from "./url/search.ts"

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
  interface StaticDataRouteOption {
    /** How much room the page leaves the navigation: by default all it wants. */
    navigation?: "rail" | "none"
  }
}

const root = createRootRoute({ component: Outlet })

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: searchKeys({ to: searchText }),
  component: pageCode(() => import("./pages/login/login-page.tsx"), "LoginPage"),
})

/** Every page but the login: the frame around it, once it is known who asks. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: SignedIn,
  beforeLoad: async ({ location }) => {
    try {
      const { user } = await queryClient.ensureQueryData({ ...sessionQuery, retry: false })
      takeTab(user.id)
    } catch (error) {
      if (error instanceof ApiError && error.isSignedOut)
        throw redirect({ to: "/login", search: { to: location.publicHref } })
      throw error
    }
  },
})

function SignedIn() {
  const navigation = useMatches({ select: (matches) => matches.at(-1)?.staticData.navigation })
  return (
    <Frame {...(navigation === undefined ? {} : { navigation })}>
      <Outlet />
    </Frame>
  )
}

const projects = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  component: pageCode(() => import("./pages/projects/projects-page.tsx"), "ProjectsPage"),
})

/** Every component in every state: for whoever builds a page, and for the tests. */
const design = createRoute({
  getParentRoute: () => signedIn,
  path: "/design",
  component: pageCode(() => import("./pages/design/design-page.tsx"), "DesignPage"),
})

const project = createRoute({
  getParentRoute: () => signedIn,
  path: "/$entity/$project",
  component: Outlet,
  // The frame stays around it: the router looks for the nearest route that has one, and the root is outside of the frame.
  notFoundComponent: NoSuchPage,
  beforeLoad: ({ params }) => {
    if (!isProjectName(params)) throw notFound()
  },
})

const projectHome = createRoute({
  getParentRoute: () => project,
  path: "/",
  validateSearch: searchKeys({ ...overviewKeys, client: clientSearch }),
  component: pageCode(() => import("./pages/project/project-home.tsx"), "ProjectHome"),
})

const traces = createRoute({
  getParentRoute: () => project,
  path: "/traces",
  validateSearch: tracesSearch,
  component: pageCode(() => import("./pages/project/traces/traces-page.tsx"), "TracesPage"),
})

const callComparison = createRoute({
  getParentRoute: () => project,
  path: "/traces/compare",
  validateSearch: callComparisonSearch,
  component: pageCode(() => import("./pages/project/call-comparison/call-comparison-page.tsx"), "CallComparisonPage"),
})

const oneTrace = createRoute({
  getParentRoute: () => project,
  path: "/traces/$trace",
  validateSearch: traceSearch,
  staticData: { navigation: "rail" },
  component: pageCode(() => import("./pages/project/trace/trace-page.tsx"), "TracePage"),
})

const conversation = createRoute({
  getParentRoute: () => project,
  path: "/conversations/$id",
  component: pageCode(() => import("./pages/project/conversations/conversation-page.tsx"), "ConversationPage"),
})

const train = createRoute({
  getParentRoute: () => project,
  path: "/train",
  validateSearch: trainSearch,
  component: pageCode(() => import("./pages/project/train/train-page.tsx"), "TrainPage"),
})

const training = [
  createRoute({
    getParentRoute: () => project,
    path: "/models",
    component: pageCode(() => import("./pages/project/models/models-page.tsx"), "ModelsPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/models/$name",
    validateSearch: modelSearch,
    component: pageCode(() => import("./pages/project/models/model/model-page.tsx"), "ModelPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/models/$name/steps/$step",
    beforeLoad: ({ params }) => {
      if (!/^\d{1,10}$/.test(params.step)) throw notFound()
    },
    component: pageCode(() => import("./pages/project/models/step/step-page.tsx"), "StepPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/runs",
    validateSearch: runsSearch,
    component: pageCode(() => import("./pages/project/runs/runs-page.tsx"), "RunsPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/runs/$name",
    validateSearch: runSearch,
    // The link that the wandb SDK prints: the run of a model has the page of the model.
    beforeLoad: async ({ params: { entity, project: name, name: run } }) => {
      const { isModel } = await import("./api/training/training.ts")
      if (!(await isModel({ entity, project: name }, run))) return
      throw redirect({
        to: "/$entity/$project/models/$name",
        params: { entity, project: name, name: run },
        replace: true,
      })
    },
    component: pageCode(() => import("./pages/project/runs/run/run-page.tsx"), "RunPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    // Not below the runs: one of them may be called anything.
    path: "/run-comparison",
    validateSearch: runComparisonSearch,
    component: pageCode(() => import("./pages/project/runs/comparison/run-comparison-page.tsx"), "RunComparisonPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/artifacts",
    validateSearch: artifactsSearch,
    component: pageCode(() => import("./pages/project/artifacts/artifacts-page.tsx"), "ArtifactsPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/artifacts/$name",
    validateSearch: artifactSearch,
    component: pageCode(() => import("./pages/project/artifacts/artifact/artifact-page.tsx"), "ArtifactPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/base-models",
    component: pageCode(() => import("./pages/project/base-models/base-models-page.tsx"), "BaseModelsPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/jobs",
    validateSearch: jobsSearch,
    component: pageCode(() => import("./pages/project/jobs/jobs-page.tsx"), "JobsPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/jobs/$id",
    validateSearch: jobSearch,
    component: pageCode(() => import("./pages/project/jobs/job/job-page.tsx"), "JobPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/jobs/$id/groups/$group/$index",
    validateSearch: trajectorySearch,
    beforeLoad: ({ params: { group, index } }) => {
      if (![group, index].every((number) => /^\d{1,9}$/.test(number))) throw notFound()
    },
    component: pageCode(() => import("./pages/project/jobs/trajectory/trajectory-page.tsx"), "TrajectoryPage"),
  }),
] as const

const settings = [
  createRoute({
    getParentRoute: () => project,
    path: "/settings",
    beforeLoad: ({ params }) => {
      throw redirect({
        to: "/$entity/$project/settings/$section",
        params: { ...params, section: settingsSections[0] },
        replace: true,
      })
    },
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/settings/$section",
    validateSearch: settingsSearch,
    beforeLoad: ({ params }) => {
      if (!isSettingsSection(params.section)) throw notFound()
    },
    component: pageCode(() => import("./pages/project/settings/settings-page.tsx"), "SettingsPage"),
  }),
] as const

const objects = [
  createRoute({
    getParentRoute: () => project,
    path: "/objects",
    validateSearch: objectsSearch,
    component: pageCode(() => import("./pages/project/objects/objects-page.tsx"), "ObjectsPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/objects/$kind",
    validateSearch: objectsSearch,
    component: pageCode(() => import("./pages/project/objects/objects-page.tsx"), "ObjectKindPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/objects/$name/versions/$version",
    validateSearch: versionSearch,
    component: pageCode(() => import("./pages/project/objects/version/version-page.tsx"), "VersionPage"),
  }),
] as const

const evaluation = [
  createRoute({
    getParentRoute: () => project,
    path: "/evaluations",
    component: pageCode(() => import("./pages/project/evaluations/evaluations-page.tsx"), "EvaluationsPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/evaluations/$name",
    validateSearch: evaluationSearch,
    component: pageCode(() => import("./pages/project/evaluations/evaluation/evaluation-page.tsx"), "EvaluationPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/compare",
    validateSearch: compareSearch,
    component: pageCode(() => import("./pages/project/compare/compare-page.tsx"), "ComparePage"),
  }),
] as const

const playground = createRoute({
  getParentRoute: () => project,
  path: "/playground/{-$conversation}",
  validateSearch: playgroundSearch,
  component: pageCode(() => import("./pages/project/playground/playground-page.tsx"), "PlaygroundPage"),
})
const labelling = [
  createRoute({
    getParentRoute: () => project,
    path: "/queues",
    component: pageCode(() => import("./pages/project/queues/queues-page.tsx"), "QueuesPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/queues/new",
    validateSearch: newQueueSearch,
    component: pageCode(() => import("./pages/project/queues/new/new-queue-page.tsx"), "NewQueuePage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/queues/$id",
    validateSearch: queueSearch,
    component: pageCode(() => import("./pages/project/queues/queue/queue-page.tsx"), "QueuePage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/queues/$id/label",
    validateSearch: labelSearch,
    staticData: { navigation: "none" },
    component: pageCode(() => import("./pages/project/queues/label/label-page.tsx"), "LabelPage"),
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/queues/$id/items/$item",
    beforeLoad: ({ params: { item, ...params } }) => {
      throw redirect({ to: "/$entity/$project/queues/$id/label", params, search: { item }, replace: true })
    },
  }),
] as const

function versionLink(path: `${string}/$name/versions/$version`) {
  return createRoute({
    getParentRoute: () => project,
    path,
    beforeLoad: ({ params }) => {
      throw redirect({ to: "/$entity/$project/objects/$name/versions/$version", params, replace: true })
    },
  })
}

function newestVersion(params: { entity: string; project: string }, name: string): never {
  throw redirect({
    to: "/$entity/$project/objects/$name/versions/$version",
    params: { ...params, name, version: "latest" },
    replace: true,
  })
}

const viewLinkSearch = searchKeys({ view: searchText })

/** A list, or a saved view of it: a view of the SDK has no page of its own but that of objects. */
function viewLink(list: "traces" | "evaluations") {
  return createRoute({
    getParentRoute: () => project,
    path: `/weave/${list}`,
    validateSearch: viewLinkSearch,
    beforeLoad: ({ params, search: { view } }) => {
      if (view !== undefined && view !== "") newestVersion(params, view)
      throw redirect({ to: `/$entity/$project/${list}`, params, replace: true })
    },
  })
}

/** Links that the SDKs print, to where the same is here. */
const sdkLinks = [
  createRoute({
    getParentRoute: () => project,
    path: "/artifacts/$type/$name/$version",
    beforeLoad: ({ params: { type: _type, version, ...params } }) => {
      throw redirect({ to: "/$entity/$project/artifacts/$name", params, search: { v: version }, replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => project,
    // What `wandb.Api().project(…).url` is.
    path: "/workspace",
    beforeLoad: ({ params }) => {
      throw redirect({ to: "/$entity/$project/runs", params, replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/weave",
    beforeLoad: ({ params }) => {
      throw redirect({ to: "/$entity/$project/traces", params, replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => project,
    path: "/r/call/$call",
    beforeLoad: async ({ params: { entity, project: name, call } }) => {
      const { findTraceOf } = await import("./api/calls/find-call.ts")
      const trace = await findTraceOf(`${entity}/${name}`, call)
      if (trace === null) throw notFound()
      throw redirect({
        to: "/$entity/$project/traces/$trace",
        params: { entity, project: name, trace },
        search: { span: call },
        replace: true,
      })
    },
  }),
  versionLink("/weave/objects/$name/versions/$version"),
  versionLink("/weave/ops/$name/versions/$version"),
  createRoute({
    getParentRoute: () => project,
    path: "/weave/leaderboards/$name",
    beforeLoad: ({ params: { name, ...params } }) => newestVersion(params, name),
  }),
  viewLink("traces"),
  viewLink("evaluations"),
  createRoute({
    getParentRoute: () => project,
    // The SDK leaves the slashes of an id as they are.
    path: "/weave/agents/conversations/$",
    beforeLoad: ({ params: { _splat: id = "", ...params } }) => {
      throw redirect({ to: "/$entity/$project/conversations/$id", params: { ...params, id }, replace: true })
    },
  }),
] as const

/** Every other address. Below a project its pages stay at hand. */
const elsewhere = createRoute({ getParentRoute: () => signedIn, path: "$", component: NoSuchPage })
const elsewhereInProject = createRoute({ getParentRoute: () => project, path: "$", component: NoSuchPage })

const routeTree = root.addChildren([
  login,
  signedIn.addChildren([
    projects,
    design,
    project.addChildren([
      projectHome,
      traces,
      callComparison,
      oneTrace,
      conversation,
      ...training,
      ...evaluation,
      ...objects,
      ...labelling,
      playground,
      train,
      ...settings,
      ...sdkLinks,
      elsewhereInProject,
    ]),
    elsewhere,
  ]),
])

export const router = createRouter({
  routeTree,
  basepath: basePath,
  parseSearch,
  stringifySearch,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: NoSuchPage,
  // Data is read by the pages themselves; a pointer on a link loads the page's code.
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
})
