import type { Email } from 'postal-mime'

import { firstHeader } from './original-message.ts'

const SERVERS =
  /^(?:mailer-daemon|mail-daemon|mailerdaemon|postmaster|mailadmin|double-bounce|microsoftexchange[0-9a-f]*|bounces?)(?:[+-]|$)/i
const SUBJECTS =
  /undeliver|failure notice|delivery (?:status notification|fail|report|delay|notification|incomplete)|mail (?:delivery|system error|could not)|returned mail|mail not delivered|could not be delivered|nicht zustellbar|unzustellbar|non remis|no entregado|message delayed|warning: (?:message|could not send)/i
const TEXTS =
  /qmail-send program|mail delivery software|could not be delivered|couldn't be delivered|wasn't delivered|was not delivered|delivery (?:has )?failed|did not reach|undeliverable|permanent(?: fatal)? error|user unknown|delivery to the following recipients? (?:failed|has been delayed)|has not yet been delivered|mail system at host/i
const AUTO_SUBJECTS =
  /^(?:auto(?:matic|mated)?[ -]?(?:reply|response)|autoreply|out of (?:the )?office|abwesenheit|automatische antwort|réponse automatique|respuesta automática)\b/i

/** Programs of recipients that answer by themselves say so in one way or another: RFC 3834 and what was before it. */
export function isAutoReply(email: Email): boolean {
  const submitted = firstHeader(email, 'auto-submitted').trim().toLowerCase()
  if (submitted.startsWith('auto-replied')) return !isReport(email)
  if (isFromMailServer(email)) return false
  return (
    firstHeader(email, 'x-autoreply') !== '' ||
    firstHeader(email, 'x-autorespond') !== '' ||
    /^auto[_-]?reply/i.test(firstHeader(email, 'precedence').trim()) ||
    AUTO_SUBJECTS.test(email.subject ?? '')
  )
}

/** Postfix and others mark their reports `auto-replied`, too. */
const isReport = (email: Email): boolean => isFromMailServer(email) && looksLikeBounce(email)

export function isFromMailServer(email: Email): boolean {
  const local = (email.from?.address ?? '').split('@', 1)[0] ?? ''
  return (
    SERVERS.test(local) ||
    firstHeader(email, 'x-failed-recipients') !== '' ||
    firstHeader(email, 'return-path').trim() === '<>'
  )
}

export const looksLikeBounce = (email: Email): boolean =>
  SUBJECTS.test(email.subject ?? '') ||
  firstHeader(email, 'x-failed-recipients') !== '' ||
  TEXTS.test((email.text ?? '').slice(0, 4000))
