import type { Clock } from '#base/clock.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'
import { envelopeAddress, envelopePath } from '#platform/smtp/mail-address.ts'
import type { Site } from '#sites/site.ts'

import { forwardPath, isReturnPath, reversePath } from './srs.ts'

/** RFC 5321 §4.5.5: what bounces come from, and what some servers use instead. */
const BOUNCE_SENDER = /^(?:(?:mailer-daemon|postmaster)@.*)?$/is

/** The envelope senders under which sites forward mail, and the way back of its bounces. */
export class ReturnPaths {
  readonly #deps

  constructor(deps: { readonly sealer: Pick<Sealer, 'derive'>; readonly clock: Clock }) {
    this.#deps = deps
  }

  /**
   * The null sender stays, and so does an address of the site. A sender that no path can carry becomes the forwarding mailbox
   * itself, which then has the bounce.
   */
  forward({ siteId, domain }: Site, sender: string, mailbox: string): string {
    if (sender === '' || sender.toLowerCase().endsWith(`@${domain}`)) return sender
    const [local] = sender.split('@', 1)
    const known = isReturnPath(local ?? '') ? envelopePath(sender) : envelopeAddress(sender)
    if (known === undefined) return mailbox
    const path = `${forwardPath(this.#key(siteId), known, this.#deps.clock.now())}@${domain}`
    return envelopePath(path) ?? mailbox
  }

  /**
   * The address that a bounce goes back to; undefined for an address that is no return path. Throws the refusal of one that was
   * not made here (553), is too old (550), or is used for anything but bounces (550).
   */
  reverse(siteId: string, localPart: string, sender: string): string | undefined {
    if (!isReturnPath(localPart)) return undefined
    const found = reversePath(this.#key(siteId), localPart, this.#deps.clock.now())
    if ('fault' in found) {
      throw found.fault === 'forged'
        ? new SmtpReply(553, '5.1.3', 'This return path was not made here')
        : new SmtpReply(550, '5.1.1', 'This return path has expired')
    }
    if (!BOUNCE_SENDER.test(sender)) {
      throw new SmtpReply(550, '5.7.1', 'A return path takes bounces only: write to the author')
    }
    return envelopePath(found.address)
  }

  #key(siteId: string): Uint8Array {
    return this.#deps.sealer.derive(`srs:${siteId}`)
  }
}
