import { NO_ERRORS } from '#http/oidc/pages/form-errors.ts'
import { formPage } from '#http/oidc/pages/form.ts'
import { html } from '#http/oidc/pages/html.ts'
import { noticePage } from '#http/oidc/pages/notice-page.ts'
import type { ForwardingConsent } from '#mail/forwarding/model.ts'
import { VERIFICATION_PATH } from '#mail/forwarding/verifications.ts'
import type { Site } from '#sites/site.ts'

/** The same address also answers programs. */
const HEADERS = { vary: 'accept' }

/** Asks whoever opened the link; the button agrees. */
export const consentPage = (
  site: Site,
  token: string,
  { mailbox, target }: ForwardingConsent,
): Response =>
  formPage({
    title: 'Do you want this mail?',
    site,
    lead: html`Mail to <b>${mailbox}</b>, a mailbox of <b>${site.domain}</b>, is to be forwarded to
      <b>${target}</b>. It is forwarded once you agree.`,
    action: VERIFICATION_PATH,
    hidden: { token, mailbox, target },
    fields: [],
    submit: 'Forward this mail to me',
    more: html`<p>
      If you do not expect this, close this page: then no mail is forwarded to you.
    </p>`,
    errors: NO_ERRORS,
    headers: HEADERS,
  })

export const verifiedPage = (site: Site, { mailbox, target }: ForwardingConsent): Response =>
  noticePage({
    title: 'You have agreed',
    site,
    tone: 'good',
    text: [
      `Mail to ${mailbox} can be forwarded to ${target} now.`,
      'Whoever reads that mailbox decides from when on, and can end it. You can close this page.',
    ],
    headers: HEADERS,
  })
