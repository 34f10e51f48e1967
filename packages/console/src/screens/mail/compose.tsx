import type { JSX } from 'preact'

import { useGet, useList } from '#app/api/resources.ts'
import { EmptyState } from '#app/components/empty-state.tsx'
import { Page } from '#app/components/page.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { pathTo } from '#app/router/route-match.ts'
import { currentQuery } from '#app/router/router.ts'

import { lastList } from './last-list.ts'
import { NewMessageForm } from './new-message-form.tsx'
import { ReplyForm } from './reply-form.tsx'
import { t } from './texts.ts'

/** A new message, or the reply to one. */
export function Compose(): JSX.Element {
  const reply = currentQuery.value.get('reply')
  return reply === null ? <ComposeNew /> : <ComposeReply key={reply} messageId={reply} />
}

function ComposeNew(): JSX.Element {
  const mailboxes = useList('/admin/api/mailboxes', { query: { limit: '100' } })
  const active = mailboxes.value
    ?.filter(({ status }) => status === 'ACTIVE')
    .map(({ address }) => address)
  const mailbox = active?.[0] ?? 'ADDRESS'
  return (
    <Page
      title={t('compose.title')}
      parent={{ href: lastList(), label: t('message.back') }}
      call={{
        method: 'POST',
        path: '/admin/api/messages/send',
        body: { mailbox, to: [], subject: '', body: '' },
        command: `croft mail send ${mailbox} --to ADDRESS --subject SUBJECT --text TEXT`,
      }}
    >
      <ProblemNote problem={mailboxes.problem} onRetry={mailboxes.reload} />
      {active === undefined && mailboxes.isLoading && <Skeleton lines={6} />}
      {active?.length === 0 && (
        <EmptyState icon="mailbox" title={t('empty.mailbox')}>
          {t('empty.mailbox-lead')}
        </EmptyState>
      )}
      {active && active.length > 0 && <NewMessageForm mailboxes={active} />}
    </Page>
  )
}

function ComposeReply({ messageId }: { readonly messageId: string }): JSX.Element {
  const message = useGet('/admin/api/messages/{messageId}', { params: { messageId } })
  return (
    <Page
      title={t('compose.reply-title')}
      lead={message.value?.subject}
      parent={{ href: pathTo('/mail/messages/{id}', { id: messageId }), label: t('compose.back') }}
      call={{
        method: 'POST',
        path: '/admin/api/messages/{messageId}/reply',
        params: { messageId },
        body: { body: '' },
      }}
    >
      <ProblemNote problem={message.problem} onRetry={message.reload} />
      {message.value === undefined ? (
        message.problem === undefined && <Skeleton lines={6} />
      ) : (
        <ReplyForm message={message.value} />
      )}
    </Page>
  )
}
