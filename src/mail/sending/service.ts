import { Readable } from 'node:stream'

import { AppError, invalid } from '#base/app-error.ts'
import { type OwnedMailbox, addressOf } from '#mail/mailboxes/model.ts'
import type { MailReader } from '#mail/mailboxes/service.ts'
import type { Messages } from '#mail/messages/service.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { IdempotentAnswers, RepeatableRequest } from '#sites/idempotency/service.ts'
import type { Site } from '#sites/site.ts'

import { type Addressees, parseAddressee, parseAddressees, recipientsOf } from './addressees.ts'
import { type AttachedFile, composeMessage } from './compose-message.ts'
import {
  type InlineAttachment,
  type ReplyRequest,
  type SendRequest,
  type SentMessage,
  checkAttachmentBounds,
  parseBase64,
  tooManyAttachments,
  MAX_ATTACHMENTS,
} from './model.ts'
import type { OutgoingMail, StoredOutgoing } from './outgoing.ts'
import { deleteStaged } from './queries.ts'
import { prepareRawMessage } from './raw-message.ts'
import { answerAddressees, answerSubject, answerThreading } from './reply.ts'
import type { SenderAccess } from './sender-access.ts'
import type { SendingLimits } from './sending-limits.ts'
import {
  type StagedAttachments,
  type StagedFile,
  checkMediaType,
  checkFileName,
  unknownRef,
} from './staged-attachments.ts'

const HTTP = { protocol: 'HTTP' }

export interface SendingDeps extends Pick<
  PlatformServices,
  'database' | 'queue' | 'clock' | 'ids'
> {
  readonly idempotentAnswers: IdempotentAnswers
  readonly messages: Pick<Messages, 'get'>
  readonly outgoing: OutgoingMail
  readonly senderAccess: SenderAccess
  readonly stagedAttachments: StagedAttachments
  readonly limits: SendingLimits
}

/** Who sends, and whether the request may have come before. */
export interface Sender {
  readonly reader: MailReader
  readonly repeat: RepeatableRequest | undefined
}

/** A message as its sender wants it. */
interface Letter extends Pick<SendRequest, 'html' | 'attachmentRefs' | 'attachments'> {
  readonly mailbox: string
  readonly addressees: Addressees
  readonly replyTo: string | undefined
  readonly subject: string
  readonly text: string | undefined
  /** Composed elsewhere: instead of the rest. */
  readonly raw: Buffer | undefined
  readonly inReplyTo: string | null
  readonly references: readonly string[]
}

/** Messages that people send from their mailboxes. An answer means that the message is safe and on its way. */
export class Sending {
  readonly #deps: SendingDeps

  constructor(deps: SendingDeps) {
    this.#deps = deps
  }

  async send(site: Site, sender: Sender, request: SendRequest): Promise<SentMessage> {
    return this.#post(site, sender, letterOf(request))
  }

  /** Goes to whoever wrote the message, from the mailbox that it came to. 404 `MessageNotFound` for one that they may not read. */
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
    const { database, outgoing, idempotentAnswers, limits, ids } = this.#deps
    const { siteId } = site
    const recipients = recipientsOf(letter.addressees)
    const prepared = await database.withSite(siteId, async (tx) => {
      const first = repeat && (await idempotentAnswers.find<SentMessage>(tx, repeat))
      return first ? { first } : await this.#prepare(tx, site, reader, letter)
    })
    if ('first' in prepared) return prepared.first
    const { mailbox, staged, inline } = prepared
    await limits.count(siteId, mailbox.mailboxId)
    const messageId = ids.named('msg')
    const sender = addressOf(site, mailbox.localPart)
    const files = [...(await this.#opened(siteId, staged)), ...inline]
    const stored = await this.#store(site, { messageId, mailbox, letter, files })
    const work = (tx: SiteTx) => async () => {
      await this.#useUp(tx, staged)
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
    reader: MailReader,
    letter: Letter,
  ): Promise<{
    readonly mailbox: OwnedMailbox
    readonly staged: readonly StagedFile[]
    readonly inline: readonly AttachedFile[]
  }> {
    const { senderAccess, stagedAttachments } = this.#deps
    const { attachmentRefs = [], attachments = [] } = letter
    const count = new Set(attachmentRefs).size + attachments.length
    if (count > MAX_ATTACHMENTS) throw tooManyAttachments(count)
    const mailbox = await senderAccess.require(tx, site, reader, letter.mailbox)
    const staged = await stagedAttachments.find(tx, mailbox.mailboxId, attachmentRefs)
    const inline = attachments.map(inlineFile)
    checkAttachmentBounds([...staged, ...inline])
    return { mailbox, staged, inline }
  }

  #opened(siteId: string, staged: readonly StagedFile[]): Promise<AttachedFile[]> {
    return Promise.all(
      staged.map(async (file) => ({
        ...file,
        content: Readable.from(await this.#deps.stagedAttachments.open(siteId, file)),
      })),
    )
  }

  #store(
    site: Site,
    message: {
      readonly messageId: string
      readonly mailbox: OwnedMailbox
      readonly letter: Letter
      readonly files: readonly AttachedFile[]
    },
  ): Promise<StoredOutgoing> {
    const { messageId, mailbox, letter, files } = message
    const { replyTo, raw } = letter
    const { domain, siteId } = site
    const own = { headerId: `${messageId}@${domain}`, date: this.#deps.clock.now() }
    if (raw) {
      const { localPart } = mailbox
      const bytes = prepareRawMessage(raw, { ...own, localPart, domain })
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
      files,
    )
    return this.#deps.outgoing.store(siteId, bytes, HTTP)
  }

  /** Of two messages that name one file, the first has it. */
  async #useUp(tx: SiteTx, staged: readonly StagedFile[]): Promise<void> {
    if (staged.length === 0) return
    const { siteId } = tx
    const used = await deleteStaged(
      tx,
      staged.map(({ attachmentRef }) => attachmentRef),
    )
    for (const { attachmentRef } of staged) if (!used.has(attachmentRef)) unknownRef(attachmentRef)
    await this.#deps.queue.enqueue(tx, 'mail-removal', { siteId }, { singletonKey: siteId })
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

function letterOf({ to, cc, bcc, body, raw, ...rest }: SendRequest): Letter {
  checkContent({ ...rest, text: body, raw })
  return {
    ...rest,
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
  raw,
  attachments = [],
  attachmentRefs = [],
}: Pick<Letter, 'text' | 'html' | 'attachments' | 'attachmentRefs'> & {
  readonly raw: string | undefined
}): void {
  if (text === undefined && html === undefined && raw === undefined) {
    throw invalid('body', 'is missing')
  }
  if (raw !== undefined && attachments.length + attachmentRefs.length > 0) {
    throw invalid('raw', 'has its attachments in it: send none beside it')
  }
}

function inlineFile(
  { filename, contentType, contentBase64 }: InlineAttachment,
  at: number,
): AttachedFile {
  const field = `attachments[${at}]`
  checkFileName(`${field}.filename`, filename)
  checkMediaType(`${field}.contentType`, contentType)
  const content = parseBase64(`${field}.contentBase64`, contentBase64)
  return { filename, contentType, sizeBytes: content.length, content }
}

const nobodyToAnswer = (): AppError =>
  new AppError('InvalidTarget', 'There is nobody to answer but the mailbox itself: use send')
