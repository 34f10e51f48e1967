import type { ReadMessage } from './read-message.ts'

const SERVERS =
  /^(?:mailer-daemon|mail-daemon|mailerdaemon|postmaster|mailadmin|double-bounce|microsoftexchange[0-9a-f]*|bounces?)(?:[+-]|$)/i
const SUBJECTS =
  /undeliver|failure notice|delivery (?:status notification|fail|report|delay|notification|incomplete)|mail (?:delivery|system error|could not)|returned mail|mail not delivered|could not be delivered|nicht zustellbar|unzustellbar|non remis|no entregado|message delayed|warning: (?:message|could not send)/i
const TEXTS =
  /qmail-send program|mail delivery software|could not be delivered|couldn't be delivered|wasn't delivered|was not delivered|delivery (?:has )?failed|did not reach|undeliverable|permanent(?: fatal)? error|user unknown|delivery to the following recipients? (?:failed|has been delayed)|has not yet been delivered|mail system at host/i
const AUTO_SUBJECTS =
  /^(?:auto(?:matic|mated)?[ -]?(?:reply|response)|autoreply|out of (?:the )?office|abwesenheit|automatische antwort|réponse automatique|respuesta automática)\b/i

/** Programs of recipients that answer by themselves say so in one way or another: RFC 3834 and what was before it. */
export function isAutoReply(mail: ReadMessage): boolean {
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

export function isFromMailServer(mail: ReadMessage): boolean {
  const local = mail.author.split('@', 1)[0] ?? ''
  return (
    SERVERS.test(local) ||
    mail.header('x-failed-recipients') !== '' ||
    mail.header('return-path').trim() === '<>'
  )
}

export const looksLikeBounce = (mail: ReadMessage): boolean =>
  SUBJECTS.test(mail.subject) ||
  mail.header('x-failed-recipients') !== '' ||
  TEXTS.test(mail.text.slice(0, 4000))
