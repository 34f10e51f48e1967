import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'

import { useGet } from '#app/api/resources.ts'
import { Badge } from '#app/components/badge.tsx'
import { Button } from '#app/components/button.tsx'
import { Icon } from '#app/components/icon.tsx'
import { Menu } from '#app/components/menu.tsx'
import { Page, Section } from '#app/components/page.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { Time } from '#app/components/time.tsx'
import { navigate } from '#app/router/router.ts'
import type { ScreenProps } from '#app/screens.ts'
import { t as shell } from '#app/texts/shell.ts'

import { lastList } from './last-list.ts'
import { linkedParts } from './linked-text.ts'
import { sizeText } from './mail-time.ts'
import { useMailChanges } from './message-events.ts'
import { type MessageMove, markSeen, moveAfterNavigation } from './message-moves.ts'
import { moveItems } from './move-items.ts'
import { objectUrl } from './object-url.ts'
import type { OpenMessage } from './open-message.ts'
import { SenderNote } from './sender-note.tsx'
import { siteDomain } from './site-domain.ts'
import { t } from './texts.ts'

/** Before its time is over, the addresses of files are read again. */
const RENEWAL_MS = 60_000

/** One message, as text. */
export function MessageScreen({ params }: ScreenProps): JSX.Element {
  const { id: messageId = '' } = params
  const path = '/admin/api/messages/{messageId}'
  const { value: message, problem, reload } = useGet(path, { params: { messageId } })
  useMailChanges(message?.mailbox)
  useEffect(() => {
    if (message?.seen === false) void markSeen(message.id, true)
  }, [message?.id])
  useRenewal(message, reload)
  return (
    <Page
      title={
        message === undefined ? shell('screen.message') : message.subject || t('mail.no-subject')
      }
      parent={{ href: lastList(), label: t('message.back') }}
      call={{
        method: 'GET',
        path,
        params: { messageId },
        command: `croft mail show ${messageId} --site ${siteDomain()}`,
      }}
      actions={message && <MessageActions message={message} />}
    >
      <ProblemNote problem={problem} onRetry={reload} />
      {message === undefined ? (
        problem === undefined && <Skeleton lines={8} />
      ) : (
        <Read message={message} />
      )}
    </Page>
  )
}

/** Files are linked to by addresses that end: they are read again in time. */
function useRenewal(message: OpenMessage | undefined, reload: () => Promise<void>): void {
  const isPending = message?.parsing === 'pending'
  const end = message?.attachments[0]?.expiresAt
  useEffect(() => {
    if (!isPending && end === undefined) return
    const ms = isPending
      ? 1500
      : Math.max(RENEWAL_MS, Date.parse(end ?? '') - Date.now() - RENEWAL_MS)
    const timer = setTimeout(() => void reload(), ms)
    return () => clearTimeout(timer)
  }, [isPending, end, message])
}

interface MessageProps {
  readonly message: OpenMessage
}

function MessageActions({ message }: MessageProps): JSX.Element {
  const { id, cc, to } = message
  const reply = `/mail/compose?reply=${encodeURIComponent(id)}`
  const move = (what: MessageMove) => {
    moveAfterNavigation(message, what)
    navigate(lastList())
  }
  const hasMore = to.length + cc.length > 1
  return (
    <>
      <Menu
        label={shell('list.actions')}
        items={[
          ...(hasMore
            ? [{ label: t('message.reply-all'), icon: 'reply', href: `${reply}&all=1` } as const]
            : []),
          {
            label: t('mail.mark-unseen'),
            icon: 'mail',
            onSelect: async () => {
              await markSeen(id, false)
              navigate(lastList())
            },
          },
          ...moveItems(message, move),
        ]}
      >
        <Icon name="more" />
      </Menu>
      <Button look="primary" icon="reply" href={reply}>
        {t('message.reply')}
      </Button>
    </>
  )
}

const Read = ({ message }: MessageProps): JSX.Element => (
  <>
    <article class="section message-open">
      <MessageFacts message={message} />
      {message.folder !== 'SENT' && <SenderNote authentication={message.authentication} />}
      <MessageText message={message} />
    </article>
    <Attachments message={message} />
    <Deliveries message={message} />
    <p>
      <a class="button" href={objectUrl(message.rawUrl, location.origin)} download rel="noopener">
        <Icon name="download" />
        <span>{t('message.original', { size: sizeText(message.size) })}</span>
      </a>
    </p>
  </>
)

function MessageFacts({ message }: MessageProps): JSX.Element {
  const { from, authors = [from], to, cc, receivedAt } = message
  return (
    <dl class="facts message-facts">
      <dt>{t('message.from')}</dt>
      <dd class="message-author">{authors.join(', ') || t('mail.no-sender')}</dd>
      {to.length > 0 && (
        <>
          <dt>{t('message.to')}</dt>
          <dd>{to.join(', ')}</dd>
        </>
      )}
      {cc.length > 0 && (
        <>
          <dt>{t('message.cc')}</dt>
          <dd>{cc.join(', ')}</dd>
        </>
      )}
      <dt>{t('message.date')}</dt>
      <dd>
        <Time at={receivedAt} isAbsolute />
      </dd>
    </dl>
  )
}

function MessageText({ message }: MessageProps): JSX.Element {
  const { text, html, parsing, truncated } = message
  if (parsing === 'pending') return <p class="faint">{t('message.pending')}</p>
  if (parsing === 'failed') return <p class="note warning">{t('message.failed')}</p>
  return (
    <>
      {text.trim() === '' ? (
        <p class="faint">{t('message.no-text')}</p>
      ) : (
        <div class="message-body">
          {linkedParts(text).map((part, index) =>
            part.href === undefined ? (
              part.text
            ) : (
              <a key={index} href={part.href} target="_blank" rel="noopener noreferrer">
                {part.text}
              </a>
            ),
          )}
        </div>
      )}
      {truncated && <p class="faint small">{t('message.truncated')}</p>}
      {html !== null && <p class="faint small">{t('message.html')}</p>}
    </>
  )
}

function Attachments({ message: { attachments } }: MessageProps): JSX.Element | null {
  if (attachments.length === 0) return null
  return (
    <Section title={t('message.attachments', { count: attachments.length })}>
      <ul class="files">
        {attachments.map(({ attachmentId, filename, contentType, size, url }) => (
          <li key={attachmentId}>
            <a
              class="file"
              href={objectUrl(url, location.origin)}
              download={filename}
              rel="noopener"
            >
              <Icon name="file" />
              <span class="file-name">{filename}</span>
              <span class="faint small">
                {contentType} · {sizeText(size)}
              </span>
              <Icon name="download" />
            </a>
          </li>
        ))}
      </ul>
    </Section>
  )
}

const TONES = {
  queued: 'accent',
  sent: 'good',
  captured: 'neutral',
  failed: 'bad',
  bounced: 'bad',
  suppressed: 'warning',
} as const

function Deliveries({ message: { deliveries } }: MessageProps): JSX.Element | null {
  if (deliveries.length === 0) return null
  return (
    <Section title={t('message.deliveries')}>
      <ul class="deliveries">
        {deliveries.map(({ recipient, status, reply, updatedAt }) => (
          <li key={recipient}>
            <p class="toolbar">
              <strong>{recipient}</strong>
              <Badge
                tone={Object.entries(TONES).find(([name]) => name === status)?.[1] ?? 'neutral'}
              >
                {t('delivery.status', { status })}
              </Badge>
              <span class="faint small">
                <Time at={updatedAt} />
              </span>
            </p>
            {reply !== null && <p class="faint small delivery-reply">{reply}</p>}
          </li>
        ))}
      </ul>
    </Section>
  )
}
