import { render } from 'preact'

import { App } from '#app/app.tsx'
import { sendWaitingOnLeave } from '#app/components/toasts.tsx'
import { readConsoleConfig } from '#app/console-config.ts'
import { provideConfig } from '#app/current-config.ts'
import { restoreDrafts, warnBeforeLoss } from '#app/forms/drafts.ts'
import { navigate, startRouter } from '#app/router/router.ts'
import { provideSession } from '#app/session/current-session.ts'
import { Session } from '#app/session/session.ts'
import { readerLanguage, showLanguage } from '#app/shell/reader-language.ts'
import { startShortcuts } from '#app/shell/shortcuts.ts'
import { startTheme } from '#app/shell/theme.ts'

const config = readConsoleConfig(document)
const session = new Session({
  config,
  origin: location.origin,
  fetch: async (url, init) => fetch(url, init),
  storage: sessionStorage,
  leave: (url) => location.assign(url),
  now: () => Date.now(),
  language: readerLanguage,
})
provideConfig(config)
provideSession(session)
startTheme()
const [place] = await Promise.all([
  session.start(new URL(location.href)),
  showLanguage(readerLanguage()),
])
startRouter()
if (place !== undefined) {
  restoreDrafts(sessionStorage)
  navigate(place, { replace: true })
}
startShortcuts()
warnBeforeLoss()
sendWaitingOnLeave()
const root = document.querySelector('#app')
if (root) render(<App config={config} />, root)
