import { randomBytes, timingSafeEqual } from 'node:crypto'

import { type Actor, actorId } from '#base/actor.ts'
import { AppError, notFound } from '#base/app-error.ts'
import type { MailConfig } from '#config/config.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import { localPartAt } from '#mail/addresses/local-part.ts'
import type { MailAddresses } from '#mail/addresses/mail-addresses.ts'
import type { Mailboxes } from '#mail/mailboxes/mailboxes.ts'
import { addressOf } from '#mail/mailboxes/model.ts'
import type { SenderAccess } from '#mail/sending/sender-access.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type CreatedCredential,
  type MailboxCredentials,
  MAX_CREDENTIALS,
  type SubmissionCredential,
  type SubmissionLogin,
} from './model.ts'
import {
  deleteCredential,
  insertCredential,
  isCurrent,
  selectBySecret,
  selectCredentials,
  updateLastUsed,
} from './queries.ts'

const SECRET_BYTES = 32
/** Tells people who find one what it is, and programs that it is no option. */
const PREFIX = 'croft_'
const USE_NOTED_MS = 3_600_000

/** The passwords with which mail programs send from a mailbox. */
export class SubmissionCredentials {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock' | 'ids'> & {
      readonly config: Pick<MailConfig, 'smtpHostname' | 'submissionPort'>
      readonly addresses: Pick<MailAddresses, 'lock'>
      readonly senderAccess: SenderAccess
      readonly mailboxes: Pick<Mailboxes, 'readable'>
      readonly events: Pick<SecurityEvents, 'record'>
    },
  ) {
    this.#deps = deps
  }

  /** 409 `TooManyCredentials` beyond twenty of a mailbox, `MailboxDisabled` for one that is. */
  create(site: Site, by: Actor, address: string, name: string): Promise<CreatedCredential> {
    const { database, addresses, senderAccess, events, clock, ids, config } = this.#deps
    const password = `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64url')}`
    const credentialId = ids.named('sub')
    const createdAt = clock.now()
    return database.withSite(site.siteId, async (tx) => {
      // Of two at once the second sees the first.
      await addresses.lock(tx)
      const { mailboxId, localPart } = await senderAccess.require(tx, site, by, address)
      if ((await selectCredentials(tx, mailboxId)).length >= MAX_CREDENTIALS) throw tooMany()
      const secretHash = hashSecret(password)
      const createdBy = actorId(by)
      await insertCredential(tx, {
        credentialId,
        mailboxId,
        name,
        createdBy,
        secretHash,
        createdAt,
      })
      const mailbox = addressOf(site, localPart)
      await events.record(tx, {
        event: 'mail-credential.created',
        by,
        detail: { mailbox, credentialId, name },
      })
      return {
        credentialId,
        name,
        createdBy,
        createdAt: createdAt.toISOString(),
        lastUsedAt: null,
        mailbox,
        server: { host: config.smtpHostname, port: config.submissionPort, security: 'STARTTLS' },
        username: mailbox,
        password,
      }
    })
  }

  list(site: Site, by: Actor, address: string): Promise<MailboxCredentials> {
    const { database, mailboxes } = this.#deps
    return database.withSite(site.siteId, async (tx) => {
      const { mailboxId, localPart } = await mailboxes.readable(tx, site, by, address)
      const rows = await selectCredentials(tx, mailboxId)
      const items = rows.map(({ createdAt, lastUsedAt, ...row }): SubmissionCredential => ({
        ...row,
        createdAt: createdAt.toISOString(),
        lastUsedAt: lastUsedAt?.toISOString() ?? null,
      }))
      return { mailbox: addressOf(site, localPart), items }
    })
  }

  /** A mail program that is logged in sends nothing more. 404 `CredentialNotFound`. */
  async remove(site: Site, by: Actor, address: string, credentialId: string): Promise<void> {
    const { database, mailboxes, events } = this.#deps
    await database.withSite(site.siteId, async (tx) => {
      const { mailboxId, localPart } = await mailboxes.readable(tx, site, by, address)
      const name = await deleteCredential(tx, mailboxId, credentialId)
      if (name === undefined) throw notFound('Credential', credentialId)
      await events.record(tx, {
        event: 'mail-credential.removed',
        by,
        detail: { mailbox: addressOf(site, localPart), credentialId, name },
      })
    })
  }

  /** Undefined for a password that is none of this active mailbox. */
  authenticate(
    { siteId, domain }: Pick<Site, 'siteId' | 'domain'>,
    username: string,
    password: string,
  ): Promise<SubmissionLogin | undefined> {
    const now = this.#deps.clock.now()
    const secretHash = hashSecret(password)
    return this.#deps.database.withSite(siteId, async (tx) => {
      const found = await selectBySecret(tx, secretHash)
      if (!found || !timingSafeEqual(found.secretHash, secretHash)) return undefined
      const { credentialId, mailboxId, localPart, lastUsedAt } = found
      if (localPartAt(domain, username) !== localPart) return undefined
      if (now.getTime() - (lastUsedAt?.getTime() ?? 0) >= USE_NOTED_MS) {
        await updateLastUsed(tx, credentialId, now)
      }
      return { siteId, domain, credentialId, mailboxId, localPart }
    })
  }

  /** Whether the password still opens its mailbox. */
  isCurrent(login: SubmissionLogin): Promise<boolean> {
    return this.#deps.database.withSite(login.siteId, (tx) => isCurrent(tx, login))
  }
}

const tooMany = (): AppError =>
  new AppError(
    'TooManyCredentials',
    `A mailbox has at most ${MAX_CREDENTIALS} passwords for mail programs: remove one first`,
  )
