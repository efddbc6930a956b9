/**
 * A session that ended while a page is open is renewed in place: the page, and what was typed into it, stay as they are, unless
 * somebody else signs in.
 */
import { Dialog } from "../components/layers/dialog.tsx"
import { SignInForm } from "./sign-in-form.tsx"
import styles from "./sign-in-again.module.css"

export function SignInAgain() {
  return (
    <Dialog title="Sign in again" isOpen isRequired onClose={() => undefined} width={400}>
      <div className={styles.body}>
        <p className={styles.words}>
          Your session has ended. This page stays as it is, with everything you typed; somebody else who signs in here
          gets it anew.
        </p>
        <SignInForm onSignedIn={() => undefined} />
      </div>
    </Dialog>
  )
}
