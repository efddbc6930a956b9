/** Signs in with a key. Other ways to sign in, such as a password, would stand below the key. */
import { type FormEvent, useState } from "react"
import { useSignIn } from "../api/sign-in.ts"
import { Button } from "../components/controls/button.tsx"
import { TextField } from "../components/controls/field.tsx"
import { ErrorNote } from "../components/states/error-note.tsx"
import styles from "./sign-in-form.module.css"

interface SignInFormProps {
  onSignedIn: () => void
}

export function SignInForm({ onSignedIn }: SignInFormProps) {
  const [key, setKey] = useState("")
  const signIn = useSignIn()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate({ api_key: key.trim() }, { onSuccess: onSignedIn })
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextField
        label="API key"
        type="password"
        name="api_key"
        autoComplete="current-password"
        autoFocus
        isMono
        spellCheck={false}
        value={key}
        onChange={(event) => setKey(event.target.value)}
        error={signIn.error?.isSignedOut === true ? signIn.error.message : undefined}
      />
      {signIn.error && !signIn.error.isSignedOut && <ErrorNote what="You are not signed in." error={signIn.error} />}
      <Button kind="primary" type="submit" disabled={key.trim() === "" || signIn.isPending}>
        {signIn.isPending ? "Signing in…" : "Sign in"}
      </Button>
    </form>
  )
}
