import { createHash } from 'node:crypto'

import type { MailReader } from '#mail/mailboxes/service.ts'
import type { Site } from '#sites/site.ts'

import type { SendRequest, SentMessage } from './model.ts'
import type { Sending } from './service.ts'

/** Who deploys a site's code may read its mailboxes. */
const SITE_CODE: MailReader = { userId: 'site-code', role: 'admin' }
/** Its keys are none of those that people send. */
const SCOPE = 'ctx.sendEmail'

export interface SiteSenderDeps {
  readonly sending: Pick<Sending, 'send'>
  /** Rejects with `SiteNotFound` when the site is gone. */
  readonly siteOf: (siteId: string) => Promise<Site>
}

/** Sends what a site's own code writes from the site's mailboxes. */
export class SiteSender {
  readonly #deps: SiteSenderDeps

  constructor(deps: SiteSenderDeps) {
    this.#deps = deps
  }

  /** The same key and message within a day are sent once; another message under the key is 422 `IdempotencyKeyReused`. */
  async sendFromMailbox(
    siteId: string,
    { request, idempotencyKey }: { request: SendRequest; idempotencyKey: string | undefined },
  ): Promise<SentMessage> {
    const { sending, siteOf } = this.#deps
    const repeat =
      idempotencyKey === undefined
        ? undefined
        : { scope: SCOPE, key: idempotencyKey, digest: digestOf(request) }
    return sending.send(await siteOf(siteId), { reader: SITE_CODE, repeat }, request)
  }
}

const digestOf = (request: SendRequest): Buffer =>
  createHash('sha256').update(JSON.stringify(request)).digest()
