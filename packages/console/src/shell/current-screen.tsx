import { type JSX } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'

import { Button } from '#app/components/button.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { sendWaiting } from '#app/components/toasts.tsx'
import type { PathParams } from '#app/router/route-match.ts'
import { currentPath, wasBack } from '#app/router/router.ts'
import { screenAt } from '#app/router/screen-at.ts'
import { type Screen, isFor } from '#app/screens.ts'
import { currentSession } from '#app/session/current-session.ts'
import { t } from '#app/texts/shell.ts'

import { Lazy } from './lazy.tsx'
import { ScreenFailure } from './screen-failure.tsx'

export function CurrentScreen({ siteName }: { readonly siteName: string }): JSX.Element {
  const path = currentPath.value
  const found = screenAt(path)
  const title = found ? t(found.screen.title) : t('shell.not-found')
  useEffect(() => {
    document.title = `${title} · ${siteName}`
  }, [title, siteName])
  // What was deleted with "undo" is sent when the person goes on.
  useEffect(() => sendWaiting, [path])
  if (!found) return <Nowhere title="shell.not-found" lead="shell.not-found-lead" />
  const role = currentSession().account.value?.role ?? 'user'
  if (!isFor(found.screen, role))
    return <Nowhere title="shell.not-allowed" lead="shell.not-allowed-lead" />
  return <Guarded key={path} screen={found.screen} params={found.params} />
}

function Guarded({
  screen,
  params,
}: {
  readonly screen: Screen
  readonly params: PathParams
}): JSX.Element {
  const [error] = useErrorBoundary()
  if (error !== undefined) return <ScreenFailure error={error} />
  return <Lazy load={screen.load} props={{ params }} onShown={focusHeading} />
}

let isFirst = true

/** A screen reader reads the heading of what is new; the first screen is read as any page. */
function focusHeading(): void {
  if (!isFirst) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
  if (!isFirst && !wasBack()) scrollTo(0, 0)
  isFirst = false
}

interface NowhereProps {
  readonly title: 'shell.not-found' | 'shell.not-allowed'
  readonly lead: 'shell.not-found-lead' | 'shell.not-allowed-lead'
}

const Nowhere = ({ title, lead }: NowhereProps): JSX.Element => (
  <EmptyState
    isPage
    icon="search"
    title={t(title)}
    action={<Button href="/">{t('shell.to-home')}</Button>}
  >
    {t(lead)}
  </EmptyState>
)
