import { MailRefused } from '#platform/smtp/mail-transport.ts'

/** RFC 3463 §3.2 and §3.3, RFC 7505: the address, its domain or its mailbox is none, and will not be. */
const NO_SUCH_ADDRESS = /^5\.(?:1\.(?:1|2|3|6|10)|2\.1)$/
/** What servers without enhanced codes say, as bounces of the real world do. */
const NO_SUCH_ADDRESS_TEXT =
  /(?:user|mailbox|recipient|address|account)\S*(?:\s+\S+){0,4}\s+(?:unknown|not found|does(?: not|n't) exist|unavailable|disabled|inactive|invalid|rejected)|(?:no such|unknown|invalid|nonexistent)\s+(?:user|mailbox|recipient|address|account)/i

/** Whether mail to the address is pointless from now on. By the code where there is one; other refusals are about the message. */
export function isAddressFault(error: unknown): boolean {
  if (!(error instanceof MailRefused) || error.refusal?.command !== 'RCPT TO') return false
  const { enhancedCode, responseCode } = error.refusal
  if (enhancedCode !== undefined) return NO_SUCH_ADDRESS.test(enhancedCode)
  return (responseCode === 550 || responseCode === 551) && NO_SUCH_ADDRESS_TEXT.test(error.message)
}

/** The same of what a bounce says. */
export const isAddressBounce = (status: string | null, diagnostic: string | null): boolean =>
  status === null
    ? diagnostic !== null && /\b55[01]\b/.test(diagnostic) && NO_SUCH_ADDRESS_TEXT.test(diagnostic)
    : NO_SUCH_ADDRESS.test(status)
