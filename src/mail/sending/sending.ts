import { Readable } from 'node:stream'

import type { Actor } from '#base/actor.ts'
import { AppError, invalid } from '#base/app-error.ts'
import { type OwnedMailbox, addressOf } from '#mail/mailboxes/model.ts'
import type { Messages } from '#mail/messages/messages.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { IdempotentAnswers, RepeatableRequest } from '#sites/idempotency/idempotent-answers.ts'
import type { Site } from '#sites/site.ts'

import { type Addressees, parseAddressee, parseAddressees, recipientsOf } from './addressees.ts'
import { composeMessage } from './compose-message.ts'
import { type FoundFiles, MessageFiles, type NamedFiles } from './message-files.ts'
import { type ReplyRequest, type SendRequest, type SentMessage, parseBase64 } from './model.ts'
import type { OutgoingMail, StoredOutgoing } from './outgoing.ts'
import { prepareRawMessage, preparedStagedMessage } from './raw-message.ts'
import { answerAddressees, answerSubject, answerThreading } from './reply.ts'
import type { SenderAccess } from './sender-access.ts'
import { sendingUses } from './sending-limits.ts'
import type { StagedAttachments } from './staged-attachments.ts'

const HTTP = { protocol: 'HTTP' }

/** Who sends, and whether the request may have come before. */
export interface Sender {
  readonly reader: Actor
  readonly repeat: RepeatableRequest | undefined
}

/** A message as its sender wants it. */
interface Letter extends Pick<SendRequest, 'html'>, NamedFiles {
  readonly mailbox: string
  readonly addressees: Addressees
  readonly replyTo: string | undefined
  readonly subject: string
  readonly text: string | undefined
  /** Composed elsewhere, as are the parts in `rawRefs`: instead of the rest. */
  readonly raw: Buffer | undefined
  readonly inReplyTo: string | null
  readonly references: readonly string[]
}

/** Messages that people send from their mailboxes. An answer means that the message is safe and on its way. */
export class Sending {
  readonly #deps
  readonly #files: MessageFiles

  constructor(
    deps: Pick<PlatformServices, 'database' | 'queue' | 'clock' | 'ids'> & {
      readonly idempotentAnswers: IdempotentAnswers
      readonly messages: Pick<Messages, 'get'>
      readonly outgoing: OutgoingMail
      readonly senderAccess: SenderAccess
      readonly stagedAttachments: StagedAttachments
      readonly rateLimiter: Pick<RateLimiter, 'admit'>
    },
  ) {
    this.#deps = deps
    this.#files = new MessageFiles(deps)
  }

  /** `parts` are files that were staged in pieces. */
  async send(
    site: Site,
    sender: Sender,
    request: SendRequest,
    parts: Pick<NamedFiles, 'partedFiles' | 'rawRefs'> = {},
  ): Promise<SentMessage> {
    return this.#post(site, sender, letterOf(request, parts))
  }

  /** Goes to the author of the message, from the mailbox that it came to. 404 `MessageNotFound` for one that they may not read. */
  async reply(
    site: Site,
    sender: Sender,
    messageId: string,
    request: ReplyRequest,
  ): Promise<SentMessage> {
    const { cc = [], bcc = [], body, subject, replyAll = false, ...rest } = request
    const parent = await this.#deps.messages.get(site, sender.reader, messageId)
    const answered = { ...parent, headerId: parent.messageId }
    const found = answerAddressees(answered, { own: [parent.mailbox], replyAll })
    const addressees = {
      to: found.to,
      cc: [...found.cc, ...parseAddressees('cc', cc)],
      bcc: parseAddressees('bcc', bcc),
    }
    if (found.to.length === 0) throw nobodyToAnswer()
    checkContent({ ...rest, text: body, isRaw: false })
    return this.#post(site, sender, {
      ...rest,
      raw: undefined,
      replyTo: rest.replyTo,
      mailbox: parent.mailbox,
      addressees,
      subject: subject ?? answerSubject(parent.subject),
      text: body,
      ...answerThreading(answered),
    })
  }

  async #post(site: Site, { reader, repeat }: Sender, letter: Letter): Promise<SentMessage> {
    const { database, outgoing, idempotentAnswers, rateLimiter, ids } = this.#deps
    const { siteId } = site
    const recipients = recipientsOf(letter.addressees)
    const prepared = await database.withSite(siteId, async (tx) => {
      const first = repeat && (await idempotentAnswers.find<SentMessage>(tx, repeat))
      return first ? { first } : await this.#prepare(tx, site, reader, letter)
    })
    if ('first' in prepared) return prepared.first
    const { mailbox, files } = prepared
    await rateLimiter.admit(...sendingUses(siteId, mailbox.mailboxId, recipients.length))
    const messageId = ids.named('msg')
    const sender = addressOf(site, mailbox.localPart)
    const stored = await this.#store(site, { messageId, mailbox, letter, files })
    const work = (tx: SiteTx) => async () => {
      await this.#files.useUp(tx, files)
      const { mailboxId } = mailbox
      const accepted = { messageId, mailboxId, sender, recipients, isRetried: false }
      return outgoing.accept(tx, stored, accepted)
    }
    const sent = await this.#committed(siteId, stored, (tx) =>
      repeat ? idempotentAnswers.once(tx, repeat, work(tx)) : work(tx)(),
    )
    // Another request with the same key was first.
    if (sent.id !== messageId) await outgoing.remove(siteId, stored.rawId)
    return sent
  }

  async #prepare(
    tx: SiteTx,
    site: Site,
    reader: Actor,
    letter: Letter,
  ): Promise<{
    readonly mailbox: OwnedMailbox
    readonly files: FoundFiles
  }> {
    const mailbox = await this.#deps.senderAccess.require(tx, site, reader, letter.mailbox)
    return { mailbox, files: await this.#files.find(tx, mailbox.mailboxId, letter) }
  }

  async #store(
    site: Site,
    message: {
      readonly messageId: string
      readonly mailbox: OwnedMailbox
      readonly letter: Letter
      readonly files: FoundFiles
    },
  ): Promise<StoredOutgoing> {
    const { messageId, mailbox, letter, files } = message
    const { replyTo, raw } = letter
    const { domain, siteId } = site
    const own = { headerId: `${messageId}@${domain}`, date: this.#deps.clock.now() }
    const rawSender = { ...own, localPart: mailbox.localPart, domain }
    const staged = this.#files.openRaw(siteId, files)
    if (staged) {
      const bytes = preparedStagedMessage(staged, rawSender)
      return this.#deps.outgoing.store(siteId, bytes, HTTP)
    }
    if (raw) {
      const bytes = prepareRawMessage(raw, rawSender)
      return this.#deps.outgoing.store(siteId, Readable.from([bytes]), HTTP)
    }
    const bytes = composeMessage(
      {
        ...letter,
        ...own,
        from: addressOf(site, mailbox.localPart),
        replyTo: replyTo === undefined ? undefined : parseAddressee('replyTo', replyTo),
        html: letter.html,
      },
      await this.#files.open(siteId, files),
    )
    return this.#deps.outgoing.store(siteId, bytes, HTTP)
  }

  /** Bytes stay where their rows may have been committed. */
  async #committed(
    siteId: string,
    { rawId }: StoredOutgoing,
    work: (tx: SiteTx) => Promise<SentMessage>,
  ): Promise<SentMessage> {
    try {
      return await this.#deps.database.withSite(siteId, work)
    } catch (error) {
      const isRefused = error instanceof AppError && error.code !== 'ServiceUnavailable'
      if (isRefused) await this.#deps.outgoing.remove(siteId, rawId)
      throw error
    }
  }
}

function letterOf(
  { to, cc, bcc, body, raw, rawRef, ...rest }: SendRequest,
  { partedFiles = [], rawRefs = [] }: Pick<NamedFiles, 'partedFiles' | 'rawRefs'>,
): Letter {
  const refs = [...rawRefs, ...(rawRef === undefined ? [] : [rawRef])]
  if (raw !== undefined && refs.length > 0) throw invalid('raw', 'is given twice: leave one out')
  const isRaw = raw !== undefined || refs.length > 0
  checkContent({ ...rest, partedFiles, text: body, isRaw })
  return {
    ...rest,
    partedFiles,
    rawRefs: refs,
    replyTo: rest.replyTo,
    addressees: {
      to: parseAddressees('to', to),
      cc: parseAddressees('cc', cc ?? []),
      bcc: parseAddressees('bcc', bcc ?? []),
    },
    text: body,
    raw: raw === undefined ? undefined : parseBase64('raw', raw),
    inReplyTo: null,
    references: [],
  }
}

/** A message has parts, or comes whole. */
function checkContent({
  text,
  html,
  isRaw,
  attachments = [],
  attachmentRefs = [],
  partedFiles = [],
}: Pick<Letter, 'text' | 'html'> &
  NamedFiles & {
    readonly isRaw: boolean
  }): void {
  if (text === undefined && html === undefined && !isRaw) {
    throw invalid('body', 'is missing: give "body", "html" or both')
  }
  if (isRaw && attachments.length + attachmentRefs.length + partedFiles.length > 0) {
    throw invalid('raw', 'has its attachments in it: send none beside it')
  }
}

const nobodyToAnswer = (): AppError =>
  new AppError(
    'InvalidTarget',
    'The message has no recipient for a reply except the mailbox itself: use send',
  )
