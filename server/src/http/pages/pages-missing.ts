/** Page shown while the real pages are being built, at the first start after an install or an upgrade. */

/** It asks again by itself, without a script. */
export function pagesMissing(nonce: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="2">
<title>Heddle</title>
<style nonce="${nonce}">
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; padding: 24px;
  font: 15px/24px system-ui, -apple-system, "Segoe UI", sans-serif;
  color: light-dark(oklch(23.5% 0.015 262), oklch(93.5% 0.006 265));
  background: light-dark(oklch(97.4% 0.003 260), oklch(17.2% 0.01 265)); }
main { max-width: 52ch; }
h1 { font-size: 18px; line-height: 24px; margin: 0 0 4px; }
p { margin: 0 0 8px; color: light-dark(oklch(42.5% 0.015 262), oklch(80% 0.01 265)); }
code { font-family: ui-monospace, Menlo, monospace; font-size: 13px; }
a { color: light-dark(oklch(47.5% 0.15 271), oklch(77% 0.105 276)); }
</style>
</head>
<body>
<main>
<h1>The pages are being built</h1>
<p role="status">This happens once after an install or an upgrade and takes some seconds. This page turns by itself; the API
answers already.</p>
<p>If it stays: a server that was not started with <code>npm start</code> does not build them. Its terminal says why a
build failed, and <code>node scripts/heddle.mjs web</code> builds by hand.</p>
</main>
</body>
</html>
`
}
