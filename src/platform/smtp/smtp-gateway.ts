import type { ConnectionOptions } from 'node:tls'

import { createTransport } from 'nodemailer'

import { gatewayFault } from './gateway-faults.ts'
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
