import type { JSX } from 'preact'

import { needsStepUp } from '#app/api/api.ts'
import { Button } from '#app/components/button.tsx'
import { Dialog } from '#app/components/dialog.tsx'
import { storeDrafts } from '#app/forms/drafts.ts'
import { currentPlace } from '#app/router/router.ts'
import { currentSession } from '#app/session/current-session.ts'
import { t } from '#app/texts/shell.ts'

import { Lazy } from './lazy.tsx'
import { overlay } from './shortcuts.ts'

const KEYS = [
  ['?', 'keys.help'],
  ['/', 'keys.search'],
  ['Ctrl K', 'keys.palette'],
  ['↓ ↑', 'keys.rows'],
  ['Esc', 'keys.close'],
] as const

const loadPalette = async () => (await import('./palette.tsx')).Palette

/** What lies over the screen: the palette, the list of keys, and what the session asks. */
export function Overlays(): JSX.Element {
  const session = currentSession()
  const close = () => (overlay.value = undefined)
  return (
    <>
      {overlay.value === 'palette' && <Lazy load={loadPalette} props={{ onClose: close }} />}
      {overlay.value === 'keys' && <Keys onClose={close} />}
      {session.state.value.kind === 'ended' && (
        <SignInDialog
          name="ended"
          onClose={() => undefined}
          onSignIn={async () => session.signIn(currentPlace())}
        />
      )}
      {needsStepUp.value && (
        <SignInDialog
          name="step-up"
          onClose={() => (needsStepUp.value = false)}
          onSignIn={async () => session.stepUp(currentPlace())}
        />
      )}
    </>
  )
}

const Keys = ({ onClose }: { readonly onClose: () => void }): JSX.Element => (
  <Dialog title={t('shell.keys')} onClose={onClose}>
    <dl class="keys">
      {KEYS.map(([key, text]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{t(text)}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
)

interface SignInDialogProps {
  readonly name: 'ended' | 'step-up'
  readonly onClose: () => void
  readonly onSignIn: () => Promise<void>
}

const SignInDialog = ({ name, onClose, onSignIn }: SignInDialogProps): JSX.Element => (
  <Dialog title={t(`${name}.title`)} onClose={onClose}>
    <p class="prose">{t(`${name}.text`)}</p>
    <footer class="dialog-foot">
      <Button
        look="primary"
        onClick={async () => {
          storeDrafts(sessionStorage)
          await onSignIn()
        }}
      >
        {t(`${name}.action`)}
      </Button>
    </footer>
  </Dialog>
)
