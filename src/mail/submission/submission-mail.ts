import { domainToASCII } from 'node:url'

import { AppError } from '#base/app-error.ts'
import { ipPrefix } from '#base/ip-prefix.ts'
import { MemoryBudget } from '#base/memory-budget.ts'
import type { InboundGate } from '#mail/inbound/gate.ts'
import { noRoom } from '#mail/inbound/message-store.ts'
import { addressOf } from '#mail/mailboxes/model.ts'
import { MAX_MESSAGE_BYTES, MAX_RECIPIENTS } from '#mail/sending/model.ts'
import type { OutgoingMail } from '#mail/sending/outgoing.ts'
import { HeaderFault, isSender, preparedMessage } from '#mail/sending/raw-message.ts'
import { sendingUses } from '#mail/sending/sending-limits.ts'
import type { RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import { RATE_LIMITS } from '#platform/rate-limits/rate-limits.ts'
import type { PlatformServices } from '#platform/services.ts'
import type {
  ConnectionSummary,
  MailCommand,
  SmtpClient,
  SmtpLogin,
  SmtpPolicy,
} from '#platform/smtp-server/smtp-policy.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'
import { withinTransferTime } from '#platform/smtp-server/transfer-time.ts'
import { envelopeAddress } from '#platform/smtp/mail-address.ts'
import type { Site } from '#sites/site.ts'

import type { SubmissionCredentials } from './credentials.ts'
import type { SubmissionLogin } from './model.ts'

const MIB = 1024 * 1024
const MAX_MESSAGES_PER_CONNECTION = 1000
const MAX_FAILED_LOGINS = 3
/** What a message may hold while it comes. */
const MESSAGE_MEMORY = 2 * MIB
const MEMORY = { maxBytes: 64 * MIB, maxBytesPerKey: 16 * MIB, reservedBytes: 8 * MIB }
const MEMORY_WAIT_MS = 60_000

export interface SubmissionMailDeps extends Pick<
  PlatformServices,
  'database' | 'clock' | 'ids' | 'logger' | 'disk'
> {
  readonly gate: Pick<InboundGate, 'entered' | 'left'>
  readonly credentials: Pick<SubmissionCredentials, 'authenticate' | 'isCurrent'>
  readonly rateLimiter: RateLimiter
  readonly outgoing: OutgoingMail
  /** The site of a domain in lower case. */
  readonly siteByDomain: (domain: string) => MailSite | undefined | Promise<MailSite | undefined>
}

type MailSite = Pick<Site, 'siteId' | 'domain'>

interface Visit {
  readonly startedAt: number
  login: SubmissionLogin | undefined
  failedLogins: number
  messages: number
  /** Of the message that comes next, by their lower case; undefined before MAIL. */
  recipients: Map<string, string> | undefined
}

type StoredOutgoing = Awaited<ReturnType<OutgoingMail['store']>>

/** Mail that the owners of mailboxes hand in with a mail program (RFC 6409): who may, as which sender, to which recipients. */
export class SubmissionMail implements SmtpPolicy {
  readonly #deps: SubmissionMailDeps
  readonly #visits = new Map<string, Visit>()
  readonly #memory = new MemoryBudget(MEMORY)

  constructor(deps: SubmissionMailDeps) {
    this.#deps = deps
  }

  connected({ connectionId, address }: SmtpClient): void {
    this.#deps.gate.entered(address)
    this.#visits.set(connectionId, {
      startedAt: performance.now(),
      login: undefined,
      failedLogins: 0,
      messages: 0,
      recipients: undefined,
    })
  }

  /** One answer for everything that is wrong with a name or a password: 535. */
  readonly authenticate = async (client: SmtpClient, login: SmtpLogin): Promise<void> => {
    const visit = this.#visit(client)
    const { rateLimiter, logger } = this.#deps
    const wrong = {
      limit: RATE_LIMITS.wrongSecrets,
      siteId: 'submission',
      of: ipPrefix(client.address),
    }
    if (await rateLimiter.refusalOf(wrong)) {
      throw new SmtpReply(421, '4.7.0', 'Too many failed logins from your network: try again later')
    }
    visit.login = await this.#loginOf(login)
    const { siteId, credentialId } = visit.login ?? {}
    const fields = { connectionId: client.connectionId, siteId, credentialId }
    logger.info({ ...fields, result: visit.login ? 'ok' : 'refused' }, 'submission login')
    if (visit.login) return
    // Not before: how many guess at once is bounded by the connections of a network.
    await rateLimiter.add(wrong)
    visit.failedLogins += 1
    if (visit.failedLogins >= MAX_FAILED_LOGINS) {
      throw new SmtpReply(421, '4.7.0', 'Too many failed logins: closing the connection')
    }
    throw new SmtpReply(535, '5.7.8', 'The user name or the password is wrong')
  }

  async mail(client: SmtpClient, { address, declaredBytes }: MailCommand): Promise<void> {
    const visit = this.#visit(client)
    const login = loggedIn(visit)
    if (visit.messages >= MAX_MESSAGES_PER_CONNECTION) {
      throw new SmtpReply(421, '4.7.0', 'Too many messages on one connection: open another')
    }
    if (declaredBytes > MAX_MESSAGE_BYTES) throw tooLarge()
    if (!isSender(login, address)) {
      throw new SmtpReply(553, '5.7.1', `This login sends as ${addressOf(login, login.localPart)}`)
    }
    if (!(await this.#deps.credentials.isCurrent(login))) {
      throw new SmtpReply(421, '4.7.0', 'This password was ended, or its mailbox disabled')
    }
    if (this.#deps.disk.isFull('database', 'objects')) throw noRoom()
    visit.recipients = new Map()
  }

  async recipient(client: SmtpClient, address: string): Promise<void> {
    const visit = this.#visit(client)
    const { siteId, mailboxId } = loggedIn(visit)
    const { recipients } = visit
    if (!recipients) throw new SmtpReply(503, '5.5.1', 'MAIL comes first')
    const recipient = envelopeAddress(address)
    if (recipient === undefined) {
      throw new SmtpReply(553, '5.1.3', 'That is no address that mail can be sent to')
    }
    if (recipients.has(recipient.toLowerCase())) return
    if (recipients.size >= MAX_RECIPIENTS) {
      throw new SmtpReply(452, '4.5.3', `No more than ${MAX_RECIPIENTS} recipients at once`)
    }
    await this.#deps.rateLimiter.admit(...sendingUses(siteId, mailboxId, 1)).catch(inSmtp)
    recipients.set(recipient.toLowerCase(), recipient)
  }

  async message(client: SmtpClient, content: AsyncIterable<Uint8Array>): Promise<string> {
    const visit = this.#visit(client)
    const login = loggedIn(visit)
    const { recipients } = visit
    if (!recipients) throw new SmtpReply(503, '5.5.1', 'MAIL comes first')
    visit.recipients = undefined
    visit.messages += 1
    const lease = this.#memory.lease(ipPrefix(client.address))
    try {
      if (!(await lease.reserve(MESSAGE_MEMORY, AbortSignal.timeout(MEMORY_WAIT_MS)))) {
        throw new SmtpReply(451, '4.3.2', 'The server is busy with other messages: try again')
      }
      return await this.#send(client, login, [...recipients.values()], content)
    } catch (error) {
      return inSmtp(error)
    } finally {
      lease.release()
    }
  }

  closed({ connectionId, address, tls }: SmtpClient, summary: ConnectionSummary): void {
    const visit = this.#visits.get(connectionId)
    if (!visit) return
    this.#visits.delete(connectionId)
    this.#deps.gate.left(address)
    const durationMs = Math.round(performance.now() - visit.startedAt)
    const { messages, login } = visit
    const who = { connectionId, siteId: login?.siteId, tls: tls?.version }
    this.#deps.logger.info({ ...who, messages, ...summary, durationMs }, 'submission connection')
  }

  failed(error: unknown): void {
    this.#deps.logger.error({ err: error }, 'a message could not be taken from a mail program')
  }

  #visit({ connectionId }: SmtpClient): Visit {
    const visit = this.#visits.get(connectionId)
    if (!visit) throw new SmtpReply(421, '4.3.0', 'This connection is over')
    return visit
  }

  async #loginOf({ username, password }: SmtpLogin): Promise<SubmissionLogin | undefined> {
    const domain = domainToASCII(username.slice(username.lastIndexOf('@') + 1))
    const site = domain === '' ? undefined : await this.#deps.siteByDomain(domain)
    return site && this.#deps.credentials.authenticate(site, username, password)
  }

  async #send(
    client: SmtpClient,
    login: SubmissionLogin,
    recipients: readonly string[],
    content: AsyncIterable<Uint8Array>,
  ): Promise<string> {
    const { database, outgoing, ids, clock, logger } = this.#deps
    const { siteId, domain, mailboxId, localPart } = login
    const messageId = ids.named('msg')
    const sender = { localPart, domain, headerId: `${messageId}@${domain}`, date: clock.now() }
    const stored = await outgoing.store(
      siteId,
      preparedMessage(withinTransferTime(content), sender),
      {
        protocol: client.protocol,
      },
    )
    const sent = await database
      .withSite(siteId, (tx) =>
        outgoing.accept(tx, stored, {
          messageId,
          mailboxId,
          sender: addressOf(login, localPart),
          recipients,
          isRetried: true,
        }),
      )
      .catch((error: unknown) => this.#refused(siteId, stored, error))
    const isNew = sent.id === messageId
    if (!isNew) await outgoing.remove(siteId, stored.rawId)
    const { connectionId } = client
    const result = isNew ? 'accepted' : 'here already'
    const { sizeBytes } = stored
    logger.info(
      {
        connectionId,
        siteId,
        messageId: sent.id,
        recipients: recipients.length,
        sizeBytes,
        result,
      },
      'submission',
    )
    return isNew ? 'accepted' : 'accepted before'
  }

  /** Bytes stay where their rows may have been committed. */
  async #refused(siteId: string, { rawId }: StoredOutgoing, error: unknown): Promise<never> {
    const isRefused = error instanceof AppError && error.code !== 'ServiceUnavailable'
    if (isRefused) await this.#deps.outgoing.remove(siteId, rawId)
    throw error
  }
}

function loggedIn({ login }: Visit): SubmissionLogin {
  if (login) return login
  throw new SmtpReply(530, '5.7.0', 'Log in first')
}

const tooLarge = (): SmtpReply =>
  new SmtpReply(552, '5.3.4', `The message is larger than ${MAX_MESSAGE_BYTES} bytes`)

/** What the API says with these codes. */
const REPLIES: Readonly<Record<string, readonly [code: number, status: string]>> = {
  DiskFull: [452, '4.3.1'],
  MessageTooLarge: [552, '5.3.4'],
  QuotaExceeded: [452, '4.2.2'],
  TooManyRequests: [450, '4.7.1'],
  ValidationError: [554, '5.6.0'],
}

function inSmtp(error: unknown): never {
  if (error instanceof HeaderFault) {
    throw new SmtpReply(550, '5.7.1', `The message ${error.message}`, { cause: error })
  }
  const reply = error instanceof AppError ? REPLIES[error.code] : undefined
  if (!reply || !(error instanceof AppError)) throw error
  throw new SmtpReply(...reply, error.message, { cause: error })
}
