import type { Language } from '#base/language.ts'
import { DEFAULT_LANGUAGE, firstLanguage } from '#languages/language.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { AuthEmail } from './auth-email.ts'
import { CODE_PLACEHOLDER, messageTypeOf } from './branding.ts'
import { emailTextOf } from './email-text.ts'
import { htmlToText } from './html-text.ts'
import { escapeHtml, htmlBody, plainTextBody } from './layout.ts'
import type { OutboundMail, OutboundMessage } from './outbound-mail.ts'
import { selectBranding, selectLanguage } from './queries.ts'

type Content = Pick<OutboundMessage, 'subject' | 'text' | 'html'>

/** Whose request a message comes from. */
export interface EmailAsker {
  readonly language?: string | undefined
}

/** Words and looks of the messages about accounts, in each site's name. */
export class AuthEmails {
  readonly #mail: OutboundMail

  constructor(deps: { mail: OutboundMail }) {
    this.#mail = deps.mail
  }

  /** Whether a gateway is configured; without one messages are captured for the operator to read. */
  get delivers(): boolean {
    return this.#mail.delivers
  }

  /**
   * What is sent in a transaction leaves with its commit, or not at all. It is in the language of the account with the address,
   * and else in that of the request.
   */
  async send(tx: SiteTx, site: Site, email: AuthEmail, asker: EmailAsker = {}): Promise<void> {
    const content =
      (await brandedContent(tx, site, email)) ??
      defaultContent(site, email, await languageOf(tx, email.to, asker))
    await this.#mail.enqueue(tx, site, { kind: email.kind, to: email.to, ...content })
  }
}

async function languageOf(tx: SiteTx, address: string, asker: EmailAsker): Promise<Language> {
  const known = await selectLanguage(tx, address)
  return firstLanguage([known ?? '', asker.language ?? '']) ?? DEFAULT_LANGUAGE
}

function defaultContent(site: Site, email: AuthEmail, language: Language): Content {
  const words = emailTextOf(email, site.domain)
  return {
    subject: words.subject.in(language),
    text: plainTextBody(words, site.domain, language),
    html: htmlBody(words, site.domain, language),
  }
}

/** A code as the site's super-admin wants it mailed; undefined when that is as usual. */
async function brandedContent(
  tx: SiteTx,
  site: Site,
  email: AuthEmail,
): Promise<Content | undefined> {
  if (email.kind !== 'verification' && email.kind !== 'reset') return undefined
  const branding = await selectBranding(tx, messageTypeOf(email.pool))
  if (!branding) return undefined
  const { code } = email
  const html = branding.htmlBody.replaceAll(CODE_PLACEHOLDER, () => escapeHtml(code))
  const words = htmlToText(html)
  // The placeholder may be where only programs look, as in a link.
  const read = words.includes(code) ? words : `${words}\n\n${code}`
  return {
    subject: branding.subject.replaceAll(CODE_PLACEHOLDER, () => code),
    text: `${read.trim()}\n\n-- \n${site.domain}`,
    html,
  }
}
