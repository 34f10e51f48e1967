import type { JSX } from 'preact'

import { Icon } from '#app/components/icon.tsx'
import { Menu, type MenuItem } from '#app/components/menu.tsx'
import { exactTime } from '#app/components/time.tsx'
import { pathTo } from '#app/router/route-match.ts'

import type { MailPlace } from './folders.ts'
import { shownName } from './mail-names.ts'
import { listTime } from './mail-time.ts'
import { type TextRange, markedParts } from './marked-text.ts'
import { type ListedMessage, markSeen, moveMessage } from './message-moves.ts'
import { moveItems } from './move-items.ts'
import { t } from './texts.ts'

export interface MessageRowProps {
  readonly message: ListedMessage
  readonly place: MailPlace
}

export function MessageRow({ message, place }: MessageRowProps): JSX.Element {
  const { id, subject, snippet, seen, receivedAt, hasAttachments, mailbox, matches } = message
  const shownSubject = subject || t('mail.no-subject')
  const isElsewhere = place.mailbox === undefined && message.folder !== 'SENT'
  return (
    <li class={seen ? 'message-row' : 'message-row unread'}>
      <a class="message-link" href={pathTo('/mail/messages/{id}', { id })}>
        <span class="message-names truncate">
          {!seen && <span class="visually-hidden">{t('mail.unread')}: </span>}
          <Names message={message} />
        </span>
        <span class="message-text truncate">
          <span class="message-subject">
            <Marked text={shownSubject} ranges={subject === '' ? [] : matches?.subject} />
          </span>{' '}
          <span class="message-snippet">
            <Marked text={snippet} ranges={matches?.snippet} />
          </span>
        </span>
        <span class="message-meta">
          {isElsewhere && <span class="badge wide-only">{mailbox}</span>}
          {hasAttachments && (
            <>
              <Icon name="file" />
              <span class="visually-hidden">{t('mail.files')}</span>
            </>
          )}
          <time dateTime={receivedAt} title={exactTime(new Date(receivedAt))}>
            {listTime(receivedAt, new Date())}
          </time>
        </span>
      </a>
      <Menu label={t('mail.actions', { subject: shownSubject })} items={actionsOf(message)}>
        <Icon name="more" />
      </Menu>
    </li>
  )
}

/** The sender; of what was sent, the recipients. */
function Names({ message }: { readonly message: ListedMessage }): JSX.Element {
  const { from, to, folder, matches } = message
  if (folder === 'SENT') return <>{t('mail.to', { names: to.map(shownName).join(', ') })}</>
  if (matches && matches.from.length > 0) return <Marked text={from} ranges={matches.from} />
  return <>{shownName(from) || t('mail.no-sender')}</>
}

interface MarkedProps {
  readonly text: string
  readonly ranges: readonly TextRange[] | undefined
}

const Marked = ({ text, ranges }: MarkedProps): JSX.Element => (
  <>
    {markedParts(text, ranges).map((part, index) =>
      part.isMarked ? <mark key={index}>{part.text}</mark> : part.text,
    )}
  </>
)

function actionsOf(message: ListedMessage): readonly MenuItem[] {
  const { id, seen } = message
  return [
    {
      label: t(seen ? 'mail.mark-unseen' : 'mail.mark-seen'),
      icon: 'mail',
      onSelect: async () => markSeen(id, !seen),
    },
    ...moveItems(message, (where) => moveMessage(message, where)),
  ]
}

/** Arrows go from one message to the next. */
export function moveBetweenMessages(event: KeyboardEvent): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  const { target } = event
  if (step === 0 || !(target instanceof HTMLElement) || !target.matches('.message-link')) return
  event.preventDefault()
  const links = [...(target.closest('ul')?.querySelectorAll<HTMLElement>('.message-link') ?? [])]
  links[links.indexOf(target) + step]?.focus()
}
