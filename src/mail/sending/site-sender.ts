import { createHash } from 'node:crypto'

import { SITE_CODE } from '#base/actor.ts'
import type { Site } from '#sites/site.ts'

import type { PartedFile } from './message-files.ts'
import type { SendRequest, SentMessage } from './model.ts'
import type { Sending } from './sending.ts'
import type { StagedAttachments } from './staged-attachments.ts'

/** Who deploys a site's code may read its mailboxes. */
/** Its keys are none of those that people send. */
const SCOPE = 'ctx.sendEmail'

/** A message whose large files were staged in parts. */
interface PartedRequest {
  readonly request: SendRequest
  readonly partedFiles: readonly PartedFile[]
  readonly rawRefs: readonly string[]
  readonly idempotencyKey: string | undefined
}

/** Sends what a site's own code writes from the site's mailboxes. */
export class SiteSender {
  readonly #deps

  constructor(deps: {
    readonly sending: Pick<Sending, 'send'>
    readonly stagedAttachments: Pick<StagedAttachments, 'keep' | 'discard' | 'fingerprint'>
    /** Rejects with `SiteNotFound` when the site is gone. */
    readonly siteOf: (siteId: string) => Promise<Site>
  }) {
    this.#deps = deps
  }

  /** Keeps a part of a large file until its message follows. Returns its reference. */
  async stagePart(
    siteId: string,
    part: { readonly mailbox: string; readonly bytes: Uint8Array },
  ): Promise<string> {
    const { stagedAttachments, siteOf } = this.#deps
    return stagedAttachments.keep(await siteOf(siteId), SITE_CODE, part)
  }

  /** The same key and message within a day are sent once; another message under the key is 422 `IdempotencyKeyReused`. */
  async sendFromMailbox(siteId: string, message: PartedRequest): Promise<SentMessage> {
    const { sending, stagedAttachments, siteOf } = this.#deps
    const { request, partedFiles, rawRefs, idempotencyKey: key } = message
    const refs = [...partedFiles.flatMap(({ partRefs }) => partRefs), ...rawRefs]
    try {
      const repeat =
        key === undefined
          ? undefined
          : { scope: SCOPE, key, digest: await this.#digest(siteId, message, refs) }
      const sender = { reader: SITE_CODE, repeat }
      return await sending.send(await siteOf(siteId), sender, request, { partedFiles, rawRefs })
    } finally {
      // A message that was refused, or sent before, leaves them.
      if (refs.length > 0) await stagedAttachments.discard(siteId, refs)
    }
  }

  /** Of the bytes of parts, not of their references, which are others each time. */
  async #digest(
    siteId: string,
    { request, partedFiles, rawRefs }: PartedRequest,
    refs: readonly string[],
  ): Promise<Buffer> {
    if (refs.length === 0) return sha256(request)
    const files = partedFiles.map(({ partRefs, ...file }) => [file, partRefs.length])
    const bytes = await this.#deps.stagedAttachments.fingerprint(siteId, refs)
    return sha256([request, files, rawRefs.length, bytes])
  }
}

const sha256 = (value: unknown): Buffer =>
  createHash('sha256').update(JSON.stringify(value)).digest()
