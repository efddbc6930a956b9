/** Signing in: with a key, or by following a link whose token is behind the #. */
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { useEffect, useEffectEvent } from "react"
import { sessionQuery } from "../../api/session.ts"
import { useSignIn } from "../../api/sign-in.ts"
import { Button } from "../../components/controls/button.tsx"
import { ErrorNote } from "../../components/states/error-note.tsx"
import { Mark } from "../../shell/mark.tsx"
import { SignInForm } from "../../shell/sign-in-form.tsx"
import { Invited } from "./invited.tsx"
import { takeFromLink } from "./link-token.ts"
import styles from "./login-page.module.css"

const route = getRouteApi("/login")

/** Once, when this page's code is loaded: a token that was read is out of the address. */
const token = takeFromLink("token")
const invitation = takeFromLink("invitation")

export function LoginPage() {
  const { to } = route.useSearch()
  const navigate = useNavigate()
  const signIn = useSignIn()
  // A link is often followed twice, by somebody whom it has signed in the first time.
  const known = useQuery({ ...sessionQuery, retry: false, enabled: signIn.isError })
  const go = () => void navigate({ href: ownPath(to) })
  const follow = useEffectEvent(() => {
    if (token !== null && signIn.isIdle) signIn.mutate({ token }, { onSuccess: go })
  })
  // The address, which holds the token of a link.
  useEffect(() => follow(), [])

  if (token !== null && !signIn.isError) {
    return (
      <main className={styles.page}>
        <Head />
        <p role="status">Signing in…</p>
      </main>
    )
  }
  if (invitation !== null) {
    return (
      <main className={styles.page}>
        <Head />
        <Invited token={invitation} onSignedIn={go} />
      </main>
    )
  }
  return (
    <main className={styles.page}>
      <Head />
      {signIn.error && <ErrorNote what="The link did not sign you in." error={signIn.error} />}
      {signIn.isError && known.isSuccess && (
        <Button kind="primary" onClick={go}>
          Go on as {known.data.user.username}
        </Button>
      )}
      <SignInForm onSignedIn={go} />
      <p className={styles.hint}>
        The server printed a key at its first start; an administrator makes others. The key is exchanged for a session
        and not kept in this browser.
      </p>
    </main>
  )
}

function Head() {
  return (
    <header className={styles.head}>
      <Mark />
      <h1 className={styles.title}>Sign in to Heddle</h1>
    </header>
  )
}

/** Where to go on, if it is an address of this server: a link must not lead elsewhere. */
function ownPath(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])/.test(to) ? to : "/"
}
