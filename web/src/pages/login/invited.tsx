/** Somebody with an invitation: makes a user of their own, or joins with the one they have. */
import { type FormEvent, useState } from "react"
import { useAcceptInvitation, useSignUp } from "../../api/organization/organization.ts"
import { useSignIn } from "../../api/sign-in.ts"
import { Button } from "../../components/controls/button.tsx"
import { CopyButton } from "../../components/controls/copy-button.tsx"
import { TextField } from "../../components/controls/field.tsx"
import { Segmented } from "../../components/controls/segmented.tsx"
import { ErrorNote } from "../../components/states/error-note.tsx"
import { SignInForm } from "../../shell/sign-in-form.tsx"
import styles from "./invited.module.css"

interface InvitedProps {
  token: string
  onSignedIn: () => void
}

export function Invited({ token, onSignedIn }: InvitedProps) {
  const [as, setAs] = useState<"new" | "known">("new")
  const accept = useAcceptInvitation()
  return (
    <section className={styles.invited} aria-label="Invitation">
      <p>You are invited into a team of this server.</p>
      <Segmented
        label="As whom"
        value={as}
        segments={[
          { value: "new", label: "I am new here" },
          { value: "known", label: "I have a user here" },
        ]}
        onChange={setAs}
      />
      {as === "new" ? (
        <SignUp token={token} onSignedIn={onSignedIn} />
      ) : (
        <>
          <SignInForm onSignedIn={() => accept.mutate(token, { onSuccess: onSignedIn })} />
          {accept.error !== null && <ErrorNote what="You are signed in, but not in the team." error={accept.error} />}
        </>
      )}
    </section>
  )
}

function SignUp({ token, onSignedIn }: InvitedProps) {
  const [username, setUsername] = useState("")
  const signUp = useSignUp()
  const signIn = useSignIn()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signUp.mutate({ token, username: username.trim() })
  }
  const made = signUp.data
  if (made !== undefined) {
    return (
      <>
        <p>
          You are <b>{made.user.username}</b>. This is your key, with which you sign in; keep it now, it is not shown
          again.
        </p>
        <div className={styles.key}>
          <code>{made.api_key.value}</code>
          <CopyButton text={made.api_key.value} label="Copy the key" isWordy />
        </div>
        {signIn.error !== null && <ErrorNote what="You are not signed in." error={signIn.error} />}
        <Button
          kind="primary"
          disabled={signIn.isPending}
          onClick={() => signIn.mutate({ api_key: made.api_key.value }, { onSuccess: onSignedIn })}
        >
          Go on to Heddle
        </Button>
      </>
    )
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextField
        label="Your name here"
        autoFocus
        autoComplete="username"
        value={username}
        onChange={(event) => setUsername(event.target.value)}
        hint="Also of your own projects. It stays: A-Z a-z 0-9 _ . - and at most 64 characters."
      />
      {signUp.error !== null && <ErrorNote what="You were not let in." error={signUp.error} />}
      <Button kind="primary" type="submit" disabled={username.trim() === "" || signUp.isPending}>
        Join
      </Button>
    </form>
  )
}
