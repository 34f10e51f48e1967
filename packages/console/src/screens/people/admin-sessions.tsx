import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'

import { api } from '#app/api/api.ts'
import { type ItemOf, invalidate, updateList, useList } from '#app/api/resources.ts'
import { Badge } from '#app/components/badge.tsx'
import { Button } from '#app/components/button.tsx'
import { type Column, DataTable } from '#app/components/data-table.tsx'
import { Section } from '#app/components/page.tsx'
import { Time, exactTime } from '#app/components/time.tsx'
import { toast, toastProblem, undoable } from '#app/components/toasts.tsx'

import { t } from './texts.ts'

const PATH = '/admin/api/users/{userId}/sessions'

type SessionRow = ItemOf<typeof PATH>

/** Where an admin is signed in. */
export function AdminSessions({ userId }: { readonly userId: string }): JSX.Element {
  const sessions = useList(PATH, { params: { userId } })
  const isBusy = useSignal(false)
  const count = sessions.value?.length ?? 0
  const endAll = async () => {
    isBusy.value = true
    try {
      await api.delete(PATH, { params: { userId } })
      toast(t('sessions.all-ended'))
    } catch (error) {
      toastProblem(error)
    }
    isBusy.value = false
    invalidate(PATH)
  }
  return (
    <Section
      title={t('sessions.title')}
      lead={t('sessions.lead')}
      actions={
        count > 0 && (
          <Button onClick={endAll} isBusy={isBusy.value} icon="sign-out">
            {t('sessions.end-all')}
          </Button>
        )
      }
    >
      <DataTable
        label={t('sessions.title')}
        list={sessions}
        columns={columns()}
        rowKey={({ sessionId }) => sessionId}
        rowActions={(session) => (
          <Button look="quiet" onClick={() => endLater(userId, session)}>
            {t('sessions.end')}
          </Button>
        )}
        empty={<p class="faint">{t('sessions.none')}</p>}
      />
    </Section>
  )
}

const columns = (): readonly Column<SessionRow>[] => [
  {
    key: 'browser',
    header: t('sessions.browser'),
    cell: ({ userAgent, current }) => (
      <>
        <span title={userAgent}>{browserOf(userAgent)}</span>
        {current && (
          <>
            {' '}
            <Badge tone="accent">{t('sessions.current')}</Badge>
          </>
        )}
      </>
    ),
  },
  { key: 'address', header: t('sessions.network'), cell: ({ address }) => <code>{address}</code> },
  { key: 'seen', header: t('sessions.seen'), cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
  {
    key: 'since',
    header: t('sessions.since'),
    cell: ({ createdAt }) => <span class="faint">{exactTime(new Date(createdAt))}</span>,
    isWideOnly: true,
  },
]

/** Ends a session after the time to take it back. */
function endLater(userId: string, { sessionId, userAgent }: SessionRow): void {
  updateList(PATH, (rows) => rows.filter((row) => row.sessionId !== sessionId))
  undoable({
    text: t('sessions.ended', { browser: browserOf(userAgent) }),
    run: async () => {
      await api.delete('/admin/api/users/{userId}/sessions/{sessionId}', {
        params: { userId, sessionId },
      })
      invalidate(PATH)
    },
    onUndo: () => invalidate(PATH),
  })
}

const BROWSERS = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(?:e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const
const SYSTEMS = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
] as const

/** `Firefox, Linux`; what is unknown is shown as it is. */
export function browserOf(userAgent: string): string {
  const named = [BROWSERS, SYSTEMS].flatMap((list) => {
    const found = list.find(([pattern]) => pattern.test(userAgent))
    return found ? [found[1]] : []
  })
  return named.join(', ') || userAgent || '—'
}
