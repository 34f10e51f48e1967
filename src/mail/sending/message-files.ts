import { Readable } from 'node:stream'

import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { AttachedFile } from './compose-message.ts'
import {
  type InlineAttachment,
  MAX_ATTACHMENTS,
  MAX_MESSAGE_BYTES,
  checkAttachmentBounds,
  messageTooLarge,
  parseBase64,
  tooManyAttachments,
} from './model.ts'
import { deleteStaged } from './queries.ts'
import {
  type StagedAttachments,
  type StagedFile,
  checkFileName,
  checkMediaType,
  unknownRef,
} from './staged-attachments.ts'

/** A file whose bytes were staged in parts, one behind the other. */
export interface PartedFile {
  readonly filename: string
  readonly contentType: string
  readonly partRefs: readonly string[]
}

/** What goes into a message, as its sender names it. */
export interface NamedFiles {
  readonly attachmentRefs?: readonly string[]
  readonly attachments?: readonly InlineAttachment[]
  readonly partedFiles?: readonly PartedFile[]
  /** The parts of a whole message. */
  readonly rawRefs?: readonly string[]
}

interface StagedParts extends Omit<AttachedFile, 'content'> {
  readonly parts: readonly StagedFile[]
}

/** The same, found and within bounds. */
export interface FoundFiles {
  readonly staged: readonly StagedParts[]
  readonly inline: readonly AttachedFile[]
  readonly raw: readonly StagedFile[]
}

/** The files of messages, from their names to their bytes. */
export class MessageFiles {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'queue'> & {
      readonly stagedAttachments: Pick<StagedAttachments, 'find' | 'open'>
    },
  ) {
    this.#deps = deps
  }

  /** Rejects for what is not there, too many or too large. */
  async find(tx: SiteTx, mailboxId: string, named: NamedFiles): Promise<FoundFiles> {
    const { attachmentRefs = [], attachments = [], partedFiles = [], rawRefs = [] } = named
    const count = new Set(attachmentRefs).size + attachments.length + partedFiles.length
    if (count > MAX_ATTACHMENTS) throw tooManyAttachments(count)
    const find = (refs: readonly string[]) => this.#deps.stagedAttachments.find(tx, mailboxId, refs)
    const whole = (await find(attachmentRefs)).map((file) => ({ ...file, parts: [file] }))
    const parted: StagedParts[] = []
    for (const [at, { filename, contentType, partRefs }] of partedFiles.entries()) {
      checkNames(`attachments[${at}]`, filename, contentType)
      const parts = await find(partRefs)
      parted.push({ filename, contentType, parts, sizeBytes: bytesOf(parts) })
    }
    const staged = [...whole, ...parted]
    const inline = attachments.map(inlineFile)
    checkAttachmentBounds([...staged, ...inline])
    const raw = await find(rawRefs)
    if (bytesOf(raw) > MAX_MESSAGE_BYTES) throw messageTooLarge(bytesOf(raw))
    return { staged, inline, raw }
  }

  /** The attached files, whose bytes are read while the message is written. */
  async open(siteId: string, { staged, inline }: FoundFiles): Promise<readonly AttachedFile[]> {
    const opened = staged.map(({ parts, ...file }) => ({
      ...file,
      content: Readable.from(this.#bytes(siteId, parts)),
    }))
    return [...opened, ...inline]
  }

  /** The bytes of a message that came whole; undefined where none did. */
  openRaw(siteId: string, { raw }: FoundFiles): AsyncIterable<Uint8Array> | undefined {
    return raw.length === 0 ? undefined : this.#bytes(siteId, raw)
  }

  /** Of two messages that name one file, the first has it. */
  async useUp(tx: SiteTx, { staged, raw }: FoundFiles): Promise<void> {
    const refs = [...staged.flatMap(({ parts }) => parts), ...raw].map((part) => part.attachmentRef)
    if (refs.length === 0) return
    const { siteId } = tx
    const used = await deleteStaged(tx, refs)
    for (const ref of refs) if (!used.has(ref)) unknownRef(ref)
    await this.#deps.queue.enqueue(tx, 'mail-removal', { siteId }, { singletonKey: siteId })
  }

  async *#bytes(siteId: string, parts: readonly StagedFile[]): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield* await this.#deps.stagedAttachments.open(siteId, part)
  }
}

const bytesOf = (parts: readonly StagedFile[]): number =>
  parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

function inlineFile(
  { filename, contentType, contentBase64 }: InlineAttachment,
  at: number,
): AttachedFile {
  const field = `attachments[${at}]`
  checkNames(field, filename, contentType)
  const content = parseBase64(`${field}.contentBase64`, contentBase64)
  return { filename, contentType, sizeBytes: content.length, content }
}

function checkNames(field: string, filename: string, contentType: string): void {
  checkFileName(`${field}.filename`, filename)
  checkMediaType(`${field}.contentType`, contentType)
}
