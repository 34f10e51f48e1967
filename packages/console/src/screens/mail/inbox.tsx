import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'

import { type ItemOf, type ListResource, useList } from '#app/api/resources.ts'
import { Button } from '#app/components/button.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { Page } from '#app/components/page.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { SearchField } from '#app/components/search-field.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { Tabs } from '#app/components/tabs.tsx'
import { currentPlace, currentQuery, navigate, setQuery } from '#app/router/router.ts'
import type { ScreenProps } from '#app/screens.ts'
import { currentSession } from '#app/session/current-session.ts'
import { t as shell } from '#app/texts/shell.ts'

import { MAIL_FOLDERS, type MailPlace, mailPath, mailPlaceOf, messagesCall } from './folders.ts'
import { rememberList } from './last-list.ts'
import { useMailChanges } from './message-events.ts'
import { type ListedMessage, isLeaving, moveAsked } from './message-moves.ts'
import { MessageRow, moveBetweenMessages } from './message-row.tsx'
import { siteDomain } from './site-domain.ts'
import { t } from './texts.ts'

/** The messages of a folder, of one mailbox or of all that the person may read. */
export function Inbox({ params }: ScreenProps): JSX.Element {
  const place = mailPlaceOf(params['address'], params['folder'])
  const q = currentQuery.value.get('q') ?? undefined
  const unread = currentQuery.value.has('unread')
  const call = messagesCall(place, { q, unread })
  const messages = useList('/admin/api/messages', { query: call.query })
  const mailboxes = useList('/admin/api/mailboxes', { query: { limit: '100' } })
  useMailChanges(place.mailbox)
  rememberList(currentPlace())
  useEffect(() => {
    // After the screen that asked for it is gone: what waits there is sent with it.
    const timer = setTimeout(moveAsked)
    return () => clearTimeout(timer)
  }, [])
  const compose = place.mailbox === undefined ? '' : `?from=${encodeURIComponent(place.mailbox)}`
  return (
    <Page
      title={t(`folder.${place.folder}`)}
      lead={mailboxes.value?.length === 1 ? mailboxes.value[0]?.address : undefined}
      call={call}
      actions={
        <Button look="primary" icon="edit" href={`/mail/compose${compose}`}>
          {t('mail.compose')}
        </Button>
      }
    >
      {mailboxes.value?.length === 0 ? (
        <NoMailbox />
      ) : (
        <>
          <Folders place={place} />
          <div class="mail-tools">
            <MailboxChoice place={place} mailboxes={mailboxes.value ?? []} />
            <SearchField label={t('mail.search')} />
            <button
              class="button toggle"
              type="button"
              aria-pressed={unread}
              onClick={() => setQuery({ unread: unread ? undefined : '1' })}
            >
              {t('mail.unread-only')}
            </button>
          </div>
          <Messages place={place} list={messages} isFiltered={q !== undefined || unread} />
        </>
      )}
    </Page>
  )
}

interface MailboxChoiceProps {
  readonly place: MailPlace
  readonly mailboxes: readonly ItemOf<'/admin/api/mailboxes'>[]
}

function MailboxChoice({ place, mailboxes }: MailboxChoiceProps): JSX.Element | null {
  if (mailboxes.length < 2) return null
  return (
    <select
      class="input"
      aria-label={t('mail.mailbox')}
      value={place.mailbox ?? ''}
      onChange={({ currentTarget: { value } }) =>
        navigate(mailPath({ ...place, mailbox: value || undefined }))
      }
    >
      <option value="">{t('mail.every')}</option>
      {mailboxes.map(({ address, status }) => (
        <option key={address} value={address}>
          {status === 'ACTIVE' ? address : t('mail.disabled', { address })}
        </option>
      ))}
    </select>
  )
}

const Folders = ({ place }: { readonly place: MailPlace }): JSX.Element => (
  <Tabs
    label={t('mail.folders')}
    tabs={MAIL_FOLDERS.map((folder) => ({
      label: t(`folder.${folder}`),
      href: mailPath({ ...place, folder }),
      current: folder === place.folder ? 'page' : undefined,
    }))}
  />
)

interface MessagesProps {
  readonly place: MailPlace
  readonly list: ListResource<ListedMessage>
  readonly isFiltered: boolean
}

function Messages({ place, list, isFiltered }: MessagesProps): JSX.Element {
  if (list.value === undefined) {
    return list.problem ? (
      <ProblemNote problem={list.problem} onRetry={list.reload} />
    ) : (
      <Skeleton lines={8} />
    )
  }
  const shown = list.value.filter((message) => !isLeaving(message))
  return (
    <>
      <ProblemNote problem={list.problem} onRetry={list.reload} />
      {shown.length === 0 && !list.hasMore ? (
        <NoMessages isFiltered={isFiltered} place={place} />
      ) : (
        <ul
          class="messages"
          aria-label={t('mail.list')}
          aria-busy={list.isLoading}
          onKeyDown={moveBetweenMessages}
        >
          {shown.map((message) => (
            <MessageRow key={message.id} message={message} place={place} />
          ))}
        </ul>
      )}
      {list.hasMore && (
        <div class="load-more">
          <Button onClick={list.loadMore} isBusy={list.isLoadingMore}>
            {shell('list.more')}
          </Button>
        </div>
      )}
    </>
  )
}

const NoMessages = ({ isFiltered, place }: Omit<MessagesProps, 'list'>): JSX.Element =>
  isFiltered ? (
    <EmptyState
      icon="search"
      title={t('empty.search')}
      action={
        <Button onClick={() => setQuery({ q: undefined, unread: undefined })}>
          {t('empty.search-action')}
        </Button>
      }
    >
      {t('empty.search-lead')}
    </EmptyState>
  ) : (
    <EmptyState
      icon="mail"
      title={t('empty.folder')}
      {...(place.folder === 'INBOX' &&
        place.mailbox !== undefined && {
          command: `croft mail send ${place.mailbox} --to ${place.mailbox} --subject Test --text Hello`,
        })}
    >
      {t(place.folder === 'INBOX' ? 'empty.inbox-lead' : 'empty.folder-lead')}
    </EmptyState>
  )

function NoMailbox(): JSX.Element {
  const { email = '', role = 'user' } = currentSession().account.value ?? {}
  return role === 'user' ? (
    <EmptyState icon="mailbox" title={t('empty.mailbox')}>
      {t('empty.mailbox-lead')}
    </EmptyState>
  ) : (
    <EmptyState
      icon="mailbox"
      title={t('empty.mailbox-admin')}
      command={`croft mailbox create info@${siteDomain()} --owner ${email}`}
    >
      {t('empty.mailbox-admin-lead')}
    </EmptyState>
  )
}
