import type { Bounce } from './protocol.ts'
import type { ReadMessage } from './read-message.ts'

const MAX_TEXT = 64 * 1024
const MAX_DIAGNOSTIC = 1000
const STATUS = /(?:^|[\s#(:;-])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/
const REPLY = /(?:^|[\s#:])([45]\d\d)[ -]\S/

/** qmail names a recipient so, and the reason on the lines below. */
const QMAIL = /^<([^<>\s@]{1,250}@[^<>\s]{1,250})>:\s*$/m

/** Exim, and others, put the recipients on indented lines of their own. */
const INDENTED = /^[ \t]{1,8}<?([^\s<>@]{1,250}@[^\s<>:]{1,250}?)>?:?[ \t]*$/m
const DELAYED =
  /delay|warning|not yet been delivered|will be retried|still trying|temporar(?:y|ily) (?:error|failure)/i

const SERVERS =
  /^(?:mailer-daemon|mail-daemon|mailerdaemon|postmaster|mailadmin|double-bounce|microsoftexchange[0-9a-f]*|bounces?)(?:[+-]|$)/i
const SUBJECTS =
  /undeliver|failure notice|delivery (?:status notification|fail|report|delay|notification|incomplete)|mail (?:delivery|system error|could not)|returned mail|mail not delivered|could not be delivered|nicht zustellbar|unzustellbar|non remis|no entregado|message delayed|warning: (?:message|could not send)/i
const TEXTS =
  /qmail-send program|mail delivery software|could not be delivered|couldn't be delivered|wasn't delivered|was not delivered|delivery (?:has )?failed|did not reach|undeliverable|permanent(?: fatal)? error|user unknown|delivery to the following recipients? (?:failed|has been delayed)|has not yet been delivered|mail system at host/i
const AUTO_SUBJECTS =
  /^(?:auto(?:matic|mated)?[ -]?(?:reply|response)|autoreply|out of (?:the )?office|abwesenheit|automatische antwort|réponse automatique|respuesta automática)\b/i
const RETURNED = new Set([
  'message/rfc822',
  'text/rfc822-headers',
  'message/global',
  'message/global-headers',
])
const ID_FIELD = /^[ \t>]{0,10}message-id[ \t]{0,10}:\s{0,10}<([^<>\s]{1,998})>/gim
const ID = /<([^<>\s]{1,998})>/
const ADDRESS = /[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}/gi

/** `bounces+ann=shop.test@us.test`. */
const VERP = /[+-]([^+=@\s]{1,64})=([a-z0-9.-]{1,250})@/i

const TYPES = new Set(['message/delivery-status', 'message/global-delivery-status'])
const FIELD = /^([!-9;-~]{1,100})[ \t]{0,10}:(.*)$/

/** In front of an address or a diagnosis. */
const TYPE = /^[a-z0-9-]{1,30}\s{0,5};\s{0,5}/i
const REPORT_STATUS = /[245]\.\d{1,3}\.\d{1,3}/
const KINDS: Readonly<Record<string, Bounce['kind']>> = {
  failed: 'failed',
  delayed: 'delayed',
  delivered: 'delivered',
  relayed: 'delivered',
  expanded: 'delivered',
}

type Fields = ReadonlyMap<string, string>

/** What a message says of one that was sent; null for everything that is no report: RFC 3464, and how servers wrote before and beside it. */
export function bounceOf(mail: ReadMessage): Bounce | null {
  const report = reportOf(mail)
  if (report) return bounded({ ...report, originalMessageId: originalIdOf(mail) })
  if (isAutoReply(mail)) return bounded(autoReplyOf(mail))
  if (!isFromMailServer(mail) || !looksLikeBounce(mail)) return null
  return bounded(textBounceOf(mail))
}

function autoReplyOf(mail: ReadMessage): Bounce {
  return {
    kind: 'autoReply',
    recipient: mail.author || null,
    status: null,
    action: null,
    diagnostic: null,
    originalMessageId:
      messageIdIn(mail.header('in-reply-to')) ?? messageIdIn(mail.header('references')),
  }
}

function textBounceOf(mail: ReadMessage): Bounce {
  const text = mail.text.slice(0, MAX_TEXT)
  const status = STATUS.exec(text)?.[1] ?? statusOfReply(text)
  const isDelayed = status?.startsWith('4') === true || (status === null && saysDelayed(mail))
  return {
    kind: isDelayed ? 'delayed' : 'failed',
    recipient: recipientOf(mail, text),
    status,
    action: null,
    diagnostic: reasonIn(text),
    originalMessageId: originalIdOf(mail),
  }
}

const statusOfReply = (text: string): string | null => {
  const code = REPLY.exec(text)?.[1]
  return code === undefined ? null : `${code.charAt(0)}.0.0`
}

const saysDelayed = ({ subject, text }: ReadMessage): boolean =>
  DELAYED.test(subject) || DELAYED.test(text.slice(0, 1000))

function recipientOf(mail: ReadMessage, text: string): string | null {
  const named =
    firstAddress(mail.header('x-failed-recipients')) ??
    QMAIL.exec(text)?.[1] ??
    INDENTED.exec(text)?.[1] ??
    verpRecipient(mail) ??
    firstAddress(text, mail.author)
  return named?.toLowerCase() ?? null
}

/** The line with the reply of the other server, or else the one behind the recipient. */
function reasonIn(text: string): string | null {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const reply = lines.find((line) => STATUS.test(line) || REPLY.test(line))
  if (reply !== undefined) return reply
  const named = lines.findIndex((line) => line.includes('@') && line.length < 300)
  return lines.slice(named + 1).find((line) => line !== '') ?? null
}

const bounded = (bounce: Bounce): Bounce => ({
  ...bounce,
  recipient: short(bounce.recipient, 320),
  status: short(bounce.status, 20),
  action: short(bounce.action, 20),
  diagnostic: short(bounce.diagnostic, MAX_DIAGNOSTIC),
  originalMessageId: short(bounce.originalMessageId, 998),
})

const short = (text: string | null, maxLength: number): string | null =>
  text === null || text === ''
    ? null
    : text
        .slice(0, maxLength)
        .replaceAll(/\p{Cc}+/gu, ' ')
        .toWellFormed()

/** Programs of recipients that answer by themselves say so in one way or another: RFC 3834 and what was before it. */
function isAutoReply(mail: ReadMessage): boolean {
  const submitted = mail.header('auto-submitted').trim().toLowerCase()
  if (submitted.startsWith('auto-replied')) return !isReport(mail)
  if (isFromMailServer(mail)) return false
  return (
    mail.header('x-autoreply') !== '' ||
    mail.header('x-autorespond') !== '' ||
    /^auto[_-]?reply/i.test(mail.header('precedence').trim()) ||
    AUTO_SUBJECTS.test(mail.subject)
  )
}

/** Postfix and others mark their reports `auto-replied`, too. */
const isReport = (mail: ReadMessage): boolean => isFromMailServer(mail) && looksLikeBounce(mail)

function isFromMailServer(mail: ReadMessage): boolean {
  const local = mail.author.split('@', 1)[0] ?? ''
  return (
    SERVERS.test(local) ||
    mail.header('x-failed-recipients') !== '' ||
    mail.header('return-path').trim() === '<>'
  )
}

const looksLikeBounce = (mail: ReadMessage): boolean =>
  SUBJECTS.test(mail.subject) ||
  mail.header('x-failed-recipients') !== '' ||
  TEXTS.test(mail.text.slice(0, 4000))

const messageIdIn = (value: string): string | null => ID.exec(value)?.[1] ?? null

/** Of the message that a report returns, whole or in part; or of the one that it quotes. */
function originalIdOf(mail: ReadMessage): string | null {
  const part = mail.parts.find(({ type }) => RETURNED.has(type))
  const returned = part === undefined ? null : firstId(part.text())
  return (
    returned ?? firstId(mail.text.slice(0, MAX_TEXT)) ?? messageIdIn(mail.header('in-reply-to'))
  )
}

const firstId = (text: string): string | null => [...text.matchAll(ID_FIELD)][0]?.[1] ?? null

/** The first address that is not the server's own. */
const firstAddress = (text: string, except?: string): string | undefined =>
  text.match(ADDRESS)?.find((address) => address.toLowerCase() !== except?.toLowerCase())

/** The address that the sender of the original hid in its return path. */
function verpRecipient(mail: ReadMessage): string | undefined {
  const [, local, domain] = VERP.exec(mail.header('to')) ?? []
  return local === undefined || domain === undefined ? undefined : `${local}@${domain}`
}

/** The delivery status notification in a message (RFC 3464): of several recipients the one that matters most. */
function reportOf({ parts }: ReadMessage): Omit<Bounce, 'originalMessageId'> | undefined {
  const part = parts.find(({ type }) => TYPES.has(type))
  if (!part) return undefined
  const reports = groupsOf(part.text()).flatMap((fields) => recipientReport(fields) ?? [])
  return reports.find(({ kind }) => kind === 'failed') ?? reports[0]
}

function recipientReport(fields: Fields): Omit<Bounce, 'originalMessageId'> | undefined {
  const field = (name: string): string => fields.get(name) ?? ''
  const recipient = addressIn(field('final-recipient')) ?? addressIn(field('original-recipient'))
  const action = /^[a-z]+/i.exec(field('action'))?.[0].toLowerCase() ?? null
  if (recipient === null && action === null) return undefined
  const status = REPORT_STATUS.exec(field('status'))?.[0] ?? null
  const diagnostic = field('diagnostic-code').replace(TYPE, '')
  return { kind: kindOf(action, status), recipient, status, action, diagnostic }
}

const kindOf = (action: string | null, status: string | null): Bounce['kind'] =>
  KINDS[action ?? ''] ?? (status?.startsWith('4') ? 'delayed' : 'failed')

/** `rfc822; ann@shop.test`, or without the type. */
const addressIn = (value: string): string | null =>
  value
    .replace(TYPE, '')
    .replaceAll(/[<>\s]/g, '')
    .toLowerCase() || null

/** The fields of each group; an empty line separates two. */
const groupsOf = (text: string): Fields[] =>
  text
    .replaceAll(/\r\n?/g, '\n')
    .split(/\n[ \t]{0,20}\n/)
    .map((group) => fieldsOf(group))

/** Of two with the same name the first. */
function fieldsOf(group: string): Fields {
  const lines = group.replaceAll(/\n[ \t]/g, ' ').split('\n')
  const fields = lines.flatMap((line): [string, string][] => {
    const [, name = '', value = ''] = FIELD.exec(line) ?? []
    return name === '' ? [] : [[name.toLowerCase(), value.trim()]]
  })
  return new Map(fields.toReversed())
}
