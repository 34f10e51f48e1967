import { displayHost } from '#http/oidc/form-targets.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import { t } from '#languages/message.ts'

import { type Html, html } from './html.ts'

type Asking = Pick<AuthorizationRequest, 'pool' | 'client' | 'redirectUri'>

/** What a sign-in leads to: a registered application by its name and place, the site's own by its place. */
export const applicationName = ({ client, redirectUri }: Asking): Html =>
  client.application === undefined
    ? html`<b>${displayHost(redirectUri)}</b>`
    : html`<b>${client.application.name}</b> (${displayHost(redirectUri)})`

/** The application's picture, where it has one. */
export function applicationLogo({ pool, client }: Asking): Html | undefined {
  const { logoVersion } = client.application ?? {}
  if (logoVersion === undefined) return undefined
  const { pathname } = new URL(pool.issuer)
  const address = `${pathname}/clients/${client.clientId}/logo?v=${logoVersion}`
  return html`<img class="emblem" src="${address}" alt="" width="56" height="56" />`
}

/** Where the application says what it does with people's data. */
export function privacyLine({ client }: Asking): Html | undefined {
  const { name, privacyUri } = client.application ?? {}
  if (privacyUri === undefined) return undefined
  return html`<p>
    ${t('sign-in.privacy', { name })}
    <a class="link" href="${privacyUri}" rel="noopener noreferrer"
      >${t('sign-in.privacy-policy')}</a
    >
  </p>`
}
