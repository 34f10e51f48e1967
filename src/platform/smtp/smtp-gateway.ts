import type { ConnectionOptions } from 'node:tls'

import { createTransport } from 'nodemailer'

import { gatewayFault } from './gateway-faults.ts'
import { envelopePath } from './mail-address.ts'
import { MailRefused, type MailTransport, type RawMail } from './mail-transport.ts'
import { smtpConnection } from './smtp-url.ts'

const CONNECT_MS = 15_000
/** Gateways look at a message before they answer; one that is cut off here would be sent twice. */
const SILENCE_MS = 90_000
const IDLE_MS = 30_000
const MAX_CONNECTIONS = 4
const MAX_MESSAGES = 100
const MAX_REPLY_BYTES = 64 * 1024

/** A mail server that takes our messages and delivers them, over a few connections that are kept for a while. */
export class SmtpGateway implements MailTransport {
  readonly delivers = true
  readonly #pool: ReturnType<typeof openPool>

  /** `tls` adds to Node's own trust, which `NODE_EXTRA_CA_CERTS` extends. */
  constructor(smtpUrl: string, tls: Pick<ConnectionOptions, 'ca'> = {}) {
    this.#pool = openPool(smtpUrl, tls)
  }

  async send(message: RawMail, signal: AbortSignal): Promise<void> {
    const to = envelopePath(message.to)
    const from = envelopePath(message.from)
    if (to === undefined || to === '' || from === undefined) {
      throw new MailRefused('The address is none that mail can be sent to')
    }
    try {
      const raw = Buffer.from(message.mime)
      await this.#pool.sendMail({ envelope: { from, to: [to] }, raw, signal })
    } catch (error) {
      signal.throwIfAborted()
      throw gatewayFault(error)
    }
  }

  async verify(): Promise<void> {
    await this.#pool.verify()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pool.close()
  }
}

const openPool = (smtpUrl: string, tls: Pick<ConnectionOptions, 'ca'>) =>
  createTransport({
    ...smtpConnection(smtpUrl),
    pool: true,
    maxConnections: MAX_CONNECTIONS,
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
