import { NO_ERRORS } from '#http/oidc/pages/form-errors.ts'
import { formPage } from '#http/oidc/pages/form.ts'
import { html } from '#http/oidc/pages/html.ts'
import { noticePage } from '#http/oidc/pages/notice-page.ts'
import type { HtmlPage } from '#http/oidc/pages/page.ts'
import { t } from '#languages/message.ts'
import type { ForwardingConsent } from '#mail/forwarding/model.ts'
import { VERIFICATION_PATH } from '#mail/forwarding/verifications.ts'

/** The same address also answers programs. */
const HEADERS = { vary: 'accept' }

/** Whose page it is, and who reads it. */
type ReadPage = Pick<HtmlPage, 'site' | 'language'>

/** Asks the person who opened the link; the button agrees. */
export const consentPage = (
  page: ReadPage,
  token: string,
  { mailbox, target }: ForwardingConsent,
): Response =>
  formPage({
    ...page,
    title: t('forwarding.title'),
    lead: t('forwarding.lead', { mailbox, site: page.site.domain, target }),
    action: VERIFICATION_PATH,
    hidden: { token, mailbox, target },
    fields: [],
    submit: t('forwarding.submit'),
    more: html`<p>${t('forwarding.unexpected')}</p>`,
    errors: NO_ERRORS,
    headers: HEADERS,
  })

export const verifiedPage = (page: ReadPage, { mailbox, target }: ForwardingConsent): Response =>
  noticePage({
    ...page,
    title: t('forwarding.done'),
    tone: 'good',
    text: [t('forwarding.done-text', { mailbox, target }), t('forwarding.done-more')],
    headers: HEADERS,
  })
