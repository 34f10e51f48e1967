import type { ConnectionOptions } from 'node:tls'

import { createTransport } from 'nodemailer'

import { envelopePath } from './mail-address.ts'
import { MailRefused, type MailTransport, type RawMail, isOfSite } from './mail-transport.ts'
import { smtpConnection } from './smtp-url.ts'

const CONNECT_MS = 15_000

/** Gateways look at a message before they answer; one that is cut off here would be sent twice. */
const SILENCE_MS = 90_000
const IDLE_MS = 30_000

/** As many as messages may be on their way at once: one that waited here would hold up those of other sites. */
const MAX_CONNECTIONS = { service: 6, sites: 24 }
const MAX_MESSAGES = 100
const MAX_REPLY_BYTES = 64 * 1024

const MAX_REPLY = 200

/** Replies to these are about the message; a 5xx to anything else is about the connection. */
const MESSAGE_COMMANDS = ['MAIL FROM', 'RCPT TO', 'DATA']

/** The gateway wants TLS or a login: the operator's to mend, while the message waits (RFC 4954 §6, RFC 3207 §4). */
const OURS_TO_MEND = [530, 534, 535, 538]

interface SmtpError {
  readonly code?: string
  readonly command?: string
  readonly response?: string
  readonly responseCode?: number
}

/**
 * A mail server that takes our messages and delivers them, over connections that are kept for a while. Messages of the service
 * have connections of their own.
 */
export class SmtpGateway implements MailTransport {
  readonly delivers = true
  readonly #service: ReturnType<typeof openPool>
  readonly #sites: ReturnType<typeof openPool>

  /** `tls` adds to Node's own trust, which `NODE_EXTRA_CA_CERTS` extends. */
  constructor(smtpUrl: string, tls: Pick<ConnectionOptions, 'ca'> = {}) {
    this.#service = openPool(smtpUrl, tls, MAX_CONNECTIONS.service)
    this.#sites = openPool(smtpUrl, tls, MAX_CONNECTIONS.sites)
  }

  async send(message: RawMail, signal: AbortSignal): Promise<void> {
    const to = envelopePath(message.to)
    const from = envelopePath(message.from)
    if (to === undefined || to === '' || from === undefined) {
      throw new MailRefused('The address is none that mail can be sent to')
    }
    try {
      const raw = Buffer.from(message.mime)
      const pool = isOfSite(message.kind) ? this.#sites : this.#service
      await pool.sendMail({ envelope: { from, to: [to] }, raw, signal })
    } catch (error) {
      signal.throwIfAborted()
      throw gatewayFault(error)
    }
  }

  async verify(): Promise<void> {
    await this.#service.verify()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#service.close()
    this.#sites.close()
  }
}

const openPool = (smtpUrl: string, tls: Pick<ConnectionOptions, 'ca'>, maxConnections: number) =>
  createTransport({
    ...smtpConnection(smtpUrl),
    pool: true,
    maxConnections,
    maxMessages: MAX_MESSAGES,
    // Once at once, for a kept connection that the gateway had closed; after that the queue's pauses.
    maxRequeues: 1,
    idleTimeout: IDLE_MS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    maxResponseSize: MAX_REPLY_BYTES,
    tls: { ...tls, minVersion: 'TLSv1.2' },
    disableFileAccess: true,
    disableUrlAccess: true,
  })

/** What the gateway's failure means for the message, in words without the message's own. */
function gatewayFault(error: unknown): Error {
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

/** Gateways quote what they refuse: codes, links and recipients. */
const redacted = (response: string): string =>
  response
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .replaceAll(/\S*(?:\/\/|token|@)\S*/gi, '…')
    .replaceAll(/\d{6,}/g, '…')
    .slice(0, MAX_REPLY)

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
