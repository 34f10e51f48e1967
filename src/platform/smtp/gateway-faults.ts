import { MailRefused } from './mail-transport.ts'

const MAX_REPLY = 200
/** Replies to these are about the message; a 5xx to anything else is about the connection. */
const MESSAGE_COMMANDS = ['MAIL FROM', 'RCPT TO', 'DATA']
/** The gateway wants TLS or a login: the operator's to mend, while the message waits (RFC 4954 §6, RFC 3207 §4). */
const OURS_TO_MEND = [530, 534, 535, 538]

/** What the gateway's failure means for the message, in words without the message's own. */
export function gatewayFault(error: unknown): Error {
  const { code, command, response, responseCode } = asSmtpError(error)
  if (responseCode !== undefined && response !== undefined) {
    const words = `The mail gateway answered ${command ?? 'us'} with ${redacted(response)}`
    if (!isFinal(responseCode, command)) return new Error(words)
    const enhancedCode = /^\d{3}[ -](5\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1]
    return new MailRefused(words, { command, responseCode, enhancedCode })
  }
  // Found out on our side before a command was sent: no server can take it.
  if (code === 'EENVELOPE' || code === 'EMESSAGE') {
    return new MailRefused(`The mail gateway cannot take the message (${code})`)
  }
  return new Error(`The mail gateway could not be reached (${code ?? 'no reason given'})`)
}

const isFinal = (responseCode: number, command: string | undefined): boolean =>
  responseCode >= 500 &&
  !OURS_TO_MEND.includes(responseCode) &&
  MESSAGE_COMMANDS.some((known) => command === known)

/** Gateways quote what they refuse: codes, links, and whom it was for. */
const redacted = (response: string): string =>
  response
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .replaceAll(/\S*(?:\/\/|token|@)\S*/gi, '…')
    .replaceAll(/\d{6,}/g, '…')
    .slice(0, MAX_REPLY)

interface SmtpError {
  readonly code?: string
  readonly command?: string
  readonly response?: string
  readonly responseCode?: number
}

/** nodemailer adds these fields to its errors. */
function asSmtpError(error: unknown): SmtpError {
  const text = (name: string): string | undefined => {
    const value: unknown = error instanceof Error ? Reflect.get(error, name) : undefined
    return typeof value === 'string' ? value : undefined
  }
  const response = text('response')
  const [code, command] = [text('originalCode') ?? text('code'), text('command')]
  return {
    ...(code === undefined ? {} : { code }),
    ...(command === undefined ? {} : { command }),
    ...(response === undefined ? {} : { response, responseCode: Number(response.slice(0, 3)) }),
  }
}
