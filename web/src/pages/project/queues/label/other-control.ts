/** A key that the page uses for itself still presses the button or opens the link that has the focus. */
export function leftToOtherControl(): boolean {
  const focused = document.activeElement
  const isOther = focused instanceof HTMLElement && focused.matches("a[href], button:not([data-option])")
  if (isOther) focused.click()
  return isOther
}
