import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { AuthEmail, AuthEmails } from './auth-email.ts'
import { htmlOf, textOf } from './layout.ts'
import type { OutboundMail } from './outbound-mail.ts'
import { wordsOf } from './words.ts'

/** Words and looks of the messages about accounts, in each site's name. */
export class AuthEmailMessages implements AuthEmails {
  readonly #mail: OutboundMail

  constructor(deps: { mail: OutboundMail }) {
    this.#mail = deps.mail
  }

  get delivers(): boolean {
    return this.#mail.delivers
  }

  async send(tx: SiteTx, site: Site, email: AuthEmail): Promise<void> {
    const words = wordsOf(email, site.domain)
    await this.#mail.enqueue(tx, site, {
      kind: email.kind,
      to: email.to,
      subject: words.subject,
      text: textOf(words, site.domain),
      html: htmlOf(words, site.domain),
    })
  }
}
