import type { JSX } from 'preact'

import { Button } from '#app/components/button.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import type { ConsoleConfig } from '#app/console-config.ts'
import { currentSession } from '#app/session/current-session.ts'
import { Shell } from '#app/shell/shell.tsx'
import { t } from '#app/texts/shell.ts'

/** The console: what the session allows to show. */
export function App({ config }: { readonly config: ConsoleConfig }): JSX.Element {
  const session = currentSession()
  const state = session.state.value
  switch (state.kind) {
    case 'signed-in':
    case 'ended':
      return <Shell config={config} />
    case 'failed':
      return (
        <main class="alone">
          <EmptyState
            isPage
            icon="warning"
            title={t('shell.failed')}
            action={
              <Button look="primary" onClick={async () => session.signIn('/')}>
                {t('shell.failed-action')}
              </Button>
            }
          >
            {state.message}
          </EmptyState>
        </main>
      )
    case 'starting':
    case 'leaving':
      return (
        <main class="alone" aria-busy="true">
          <p class="faint" role="status">
            {t('shell.leaving')}
          </p>
        </main>
      )
    default:
      return state satisfies never
  }
}
