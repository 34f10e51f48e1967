import { pathTo as accountPath } from '#http/oidc/account/account-request.ts'
import { NO_ERRORS } from '#http/oidc/pages/form-errors.ts'
import { formPage } from '#http/oidc/pages/form.ts'
import { html } from '#http/oidc/pages/html.ts'
import { backToSite, noticePage } from '#http/oidc/pages/notice-page.ts'
import type { HtmlPage } from '#http/oidc/pages/page.ts'
import type { Pool } from '#identity/pools/model.ts'
import { ADDRESS_PATHS, type AddressLink } from '#identity/profiles/address-changes.ts'
import type { TextKey } from '#languages/catalogues.ts'
import { t } from '#languages/message.ts'
import type { Site } from '#sites/site.ts'

interface ChangedAddress {
  readonly oldEmail: string
  readonly newEmail: string
}

interface AddressPage {
  readonly link: AddressLink
  readonly change: ChangedAddress
}

interface LinkWords {
  readonly title: TextKey
  readonly lead: TextKey
  readonly submit: TextKey
  readonly doneTitle: TextKey
  readonly done: TextKey
}

const WORDS: Record<AddressLink, LinkWords> = {
  confirm: {
    title: 'new-address.title',
    lead: 'new-address.lead',
    submit: 'new-address.submit',
    doneTitle: 'new-address.done',
    done: 'new-address.done-text',
  },
  undo: {
    title: 'new-address.undo-title',
    lead: 'new-address.undo-lead',
    submit: 'new-address.undo-submit',
    doneTitle: 'new-address.undone',
    done: 'new-address.undone-text',
  },
}

/** Whose page it is, and who reads it. */
type ReadPage = Pick<HtmlPage, 'language'> & { readonly site: Site }

const named = ({ oldEmail, newEmail }: ChangedAddress, { domain }: Site) => ({
  old: oldEmail,
  new: newEmail,
  site: domain,
})

/** Asks the person who opened the link; the button agrees. */
export const askPage = (
  { site, language }: ReadPage,
  { link, change, token }: AddressPage & { readonly token: string },
): Response =>
  formPage({
    title: t(WORDS[link].title),
    site,
    language,
    lead: t(WORDS[link].lead, named(change, site)),
    action: ADDRESS_PATHS[link],
    hidden: { token },
    fields: [],
    submit: t(WORDS[link].submit),
    more: html`<p>${t('new-address.unexpected')}</p>`,
    errors: NO_ERRORS,
  })

export const addressChangedPage = (
  { site, language }: ReadPage,
  pool: Pool,
  { link, change }: AddressPage,
): Response =>
  noticePage({
    title: t(WORDS[link].doneTitle),
    site,
    language,
    tone: 'good',
    text: [t(WORDS[link].done, named(change, site))],
    links: [
      pool.kind === 'admin'
        ? { href: '/admin', label: t('page.administration') }
        : { href: accountPath(pool, 'account'), label: t('account.title') },
      backToSite(site, pool.issuer),
    ],
  })
