import type { Actor } from '#base/actor.ts'
import { AppError, invalid } from '#base/app-error.ts'
import { addressOf } from '#mail/mailboxes/model.ts'
import { rawKey } from '#mail/objects/mail-keys.ts'
import { urlExpiry } from '#platform/objects/object-rules.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  MAX_ATTACHMENT_BYTES,
  MAX_MESSAGE_BYTES,
  type StageRequest,
  type StagedAttachment,
  attachmentTooLarge,
  messageTooLarge,
} from './model.ts'
import { countStaged, deleteStaged, insertStaged, selectStaged } from './queries.ts'
import type { SenderAccess } from './sender-access.ts'

const UPLOAD_SECONDS = 15 * 60
/** Ten messages full of files, waiting to be sent. */
const MAX_STAGED = 100
const LIFETIME_MS = 24 * 3_600_000
/** Of parts, whose message follows at once. */
const PART_LIFETIME_MS = 15 * 60_000
const MESSAGE_TYPE = 'message/rfc822'
const CONTENT_TYPE = /^[\w!#$&^.+-]{1,63}\/[\w!#$&^.+-]{1,63}$/

/** A staged file whose bytes are there. */
export interface StagedFile {
  readonly attachmentRef: string
  readonly filename: string
  readonly contentType: string
  readonly sizeBytes: number
}

/**
 * Files that are uploaded before their message is sent, which uses them up. Those that are not sent are removed a day later, with
 * what else lies among the messages and belongs to none.
 */
export class StagedAttachments {
  readonly #deps

  constructor(
    deps: Pick<
      PlatformServices,
      'database' | 'objects' | 'objectUrls' | 'queue' | 'clock' | 'ids'
    > & {
      readonly senderAccess: SenderAccess
    },
  ) {
    this.#deps = deps
  }

  /** The URL leads to the service itself, which lets pages of any origin put there; it takes exactly what was announced. */
  async stage(site: Site, sender: Actor, asked: StageRequest): Promise<StagedAttachment> {
    const { objectUrls } = this.#deps
    const { filename, contentType, size } = checkedFile(asked)
    const now = this.#deps.clock.now()
    const expiresAt = new Date(now.getTime() + LIFETIME_MS)
    const { attachmentRef, localPart } = await this.#announce(site, sender, { ...asked, expiresAt })
    const {
      url,
      headers,
      expiresAt: urlEnd,
    } = await objectUrls.sign({
      method: 'PUT',
      key: rawKey(site.siteId, attachmentRef),
      contentType,
      sizeBytes: size,
      expiresAt: urlExpiry(now, UPLOAD_SECONDS),
    })
    return {
      attachmentRef,
      mailbox: addressOf(site, localPart),
      filename,
      contentType,
      size,
      upload: {
        method: 'PUT',
        url,
        headers: { ...headers },
        expiresAt: urlEnd.toISOString(),
      },
      expiresAt: expiresAt.toISOString(),
    }
  }

  /** Keeps bytes that are here: a part of what a message is about to be made of. Returns its reference. */
  async keep(
    site: Site,
    sender: Actor,
    { mailbox, bytes }: { readonly mailbox: string; readonly bytes: Uint8Array },
  ): Promise<string> {
    const { clock, objects } = this.#deps
    const { attachmentRef } = await this.#announce(site, sender, {
      mailbox,
      filename: 'part',
      contentType: 'application/octet-stream',
      size: bytes.byteLength,
      expiresAt: new Date(clock.now().getTime() + PART_LIFETIME_MS),
    })
    await objects.put(rawKey(site.siteId, attachmentRef), bytes)
    return attachmentRef
  }

  /** Releases those that no message used up. */
  async discard(siteId: string, refs: readonly string[]): Promise<void> {
    const { database, queue } = this.#deps
    await database.withSite(siteId, async (tx) => {
      const left = await deleteStaged(tx, refs)
      if (left.size > 0)
        await queue.enqueue(tx, 'mail-removal', { siteId }, { singletonKey: siteId })
    })
  }

  /** What tells the bytes of these apart from others. */
  async fingerprint(siteId: string, refs: readonly string[]): Promise<readonly string[]> {
    const { objects } = this.#deps
    const heads = await Promise.all(refs.map((ref) => objects.head(rawKey(siteId, ref))))
    return heads.map((head) => head?.etag ?? '')
  }

  /** In the order in which they were named. 400 `InvalidAttachmentRef` for what is not this mailbox's, or was not uploaded. */
  async find(
    tx: SiteTx,
    mailboxId: string,
    attachmentRefs: readonly string[],
  ): Promise<readonly StagedFile[]> {
    const refs = [...new Set(attachmentRefs)]
    if (refs.length === 0) return []
    const rows = await selectStaged(tx, mailboxId, refs, this.#deps.clock.now())
    const known = new Map(rows.map((row) => [row.attachmentRef, row]))
    return refs.map((ref) => known.get(ref) ?? unknownRef(ref))
  }

  /** The same code for bytes that never came. */
  async open(
    siteId: string,
    { attachmentRef, sizeBytes }: StagedFile,
  ): Promise<ReadableStream<Uint8Array>> {
    const object = await this.#deps.objects.get(rawKey(siteId, attachmentRef))
    if (object?.head.sizeBytes === sizeBytes) return object.body
    await object?.body.cancel()
    return unknownRef(attachmentRef)
  }

  #announce(
    site: Site,
    sender: Actor,
    file: StageRequest & { readonly expiresAt: Date },
  ): Promise<{ readonly attachmentRef: string; readonly localPart: string }> {
    const { database, senderAccess, clock, ids } = this.#deps
    const { filename, contentType, size: sizeBytes, expiresAt } = file
    const now = clock.now()
    const attachmentRef = ids.named('stg')
    return database.withSite(site.siteId, async (tx) => {
      const mailbox = await senderAccess.require(tx, site, sender, file.mailbox)
      await deleteExpired(tx, 'mail_staged_attachment', now)
      const { mailboxId, localPart } = mailbox
      if ((await countStaged(tx, mailboxId, now)) >= MAX_STAGED) throw tooManyStaged()
      await insertStaged(tx, {
        attachmentRef,
        mailboxId,
        filename,
        contentType,
        sizeBytes,
        expiresAt,
      })
      return { attachmentRef, localPart }
    })
  }
}

const tooManyStaged = (): AppError =>
  new AppError(
    'TooManyRequests',
    `${MAX_STAGED} attachments of this mailbox wait to be sent: send them, or let them expire`,
    { retryAfterSeconds: 3600 },
  )

export function unknownRef(attachmentRef: string): never {
  throw new AppError(
    'InvalidAttachmentRef',
    `"${attachmentRef}" is no attachment of this mailbox: it was not uploaded, was sent already, or has expired`,
  )
}

/** Throws a `ValidationError` for a name or type that has no place in a header, `AttachmentTooLarge` or `MessageTooLarge` for a size. */
function checkedFile({ filename, contentType, size }: StageRequest): Omit<StageRequest, 'mailbox'> {
  checkFileName('filename', filename)
  checkMediaType('contentType', contentType)
  // A whole message is staged by its type; named as an attachment it is held to the limit of one.
  const isMessage = contentType.toLowerCase() === MESSAGE_TYPE
  if (isMessage && size > MAX_MESSAGE_BYTES) throw messageTooLarge(size)
  if (!isMessage && size > MAX_ATTACHMENT_BYTES) throw attachmentTooLarge(filename, size)
  return { filename, contentType, size }
}

export function checkFileName(field: string, filename: string): void {
  if (!/^[^\p{Cc}\u2028\u2029/\\]{1,255}$/u.test(filename)) {
    throw invalid(
      field,
      'must be a name of 1 to 255 characters, without slashes and control characters',
    )
  }
}

export function checkMediaType(field: string, contentType: string): void {
  if (!CONTENT_TYPE.test(contentType)) throw invalid(field, 'must be a media type like "image/png"')
}
