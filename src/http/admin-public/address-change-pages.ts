import { pathTo as accountPath } from '#http/oidc/account/account-request.ts'
import { NO_ERRORS } from '#http/oidc/pages/form-errors.ts'
import { formPage } from '#http/oidc/pages/form.ts'
import { type Html, html } from '#http/oidc/pages/html.ts'
import { BACK_TO_SITE, noticePage } from '#http/oidc/pages/notice-page.ts'
import type { Pool } from '#identity/pools/model.ts'
import { ADDRESS_PATHS, type AddressLink } from '#identity/profiles/address-changes.ts'
import type { Site } from '#sites/site.ts'

interface ChangedAddress {
  readonly oldEmail: string
  readonly newEmail: string
}

interface AddressPage {
  readonly link: AddressLink
  readonly change: ChangedAddress
}

interface Words {
  readonly title: string
  readonly lead: (change: ChangedAddress, site: Site) => Html
  readonly submit: string
  readonly doneTitle: string
  readonly done: (change: ChangedAddress) => string
}

const WORDS: Record<AddressLink, Words> = {
  confirm: {
    title: 'Confirm your new address',
    lead: ({ oldEmail, newEmail }, { domain }) =>
      html`The account <b>${oldEmail}</b> at <b>${domain}</b> is to have the address
        <b>${newEmail}</b>.`,
    submit: 'Use this address',
    doneTitle: 'Your address is changed',
    done: ({ newEmail }) => `From now on you sign in as ${newEmail}.`,
  },
  undo: {
    title: 'Take your account back',
    lead: ({ oldEmail, newEmail }, { domain }) =>
      html`Your account at <b>${domain}</b> has the address <b>${newEmail}</b> now. It gets
        <b>${oldEmail}</b> again; every sign-in ends, and so does the password.`,
    submit: 'Take it back',
    doneTitle: 'Your account is yours again',
    done: ({ oldEmail }) =>
      `You sign in as ${oldEmail} again. Set a new password first: choose "Forgot password?" where you sign in.`,
  },
}

/** Asks whoever opened the link; the button agrees. */
export const askPage = (
  site: Site,
  { link, change, token }: AddressPage & { readonly token: string },
): Response =>
  formPage({
    title: WORDS[link].title,
    site,
    lead: WORDS[link].lead(change, site),
    action: ADDRESS_PATHS[link],
    hidden: { token },
    fields: [],
    submit: WORDS[link].submit,
    more: html`<p>If you do not expect this, close this page: then nothing changes.</p>`,
    errors: NO_ERRORS,
  })

export const addressChangedPage = (
  site: Site,
  pool: Pool,
  { link, change }: AddressPage,
): Response =>
  noticePage({
    title: WORDS[link].doneTitle,
    site,
    tone: 'good',
    text: [WORDS[link].done(change)],
    links: [
      pool.kind === 'admin'
        ? { href: '/admin', label: 'Administration' }
        : { href: accountPath(pool, 'account'), label: 'Your account' },
      BACK_TO_SITE,
    ],
  })
