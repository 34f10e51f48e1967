import encodeQr from 'qr'

import { codeField } from '#http/oidc/fields.ts'
import type { Field } from '#http/oidc/pages/field.ts'
import { Html, html } from '#http/oidc/pages/html.ts'
import { type HtmlPage, htmlPage } from '#http/oidc/pages/page.ts'
import { totpUri } from '#identity/second-factors/totp.ts'
import type { Site } from '#sites/site.ts'

/** The hidden field that carries the sealed secret. */
export const SETUP_FIELD = 'setup'

export const APP_CODE: Field = { ...codeField, label: 'Code from your app' }

export const RECOVERY_CODE: Field = {
  name: 'code',
  label: 'Recovery code',
  type: 'text',
  autocomplete: 'off',
  hint: 'Ten letters and digits. Each works once.',
}

/** The picture that an app takes, and the same in letters. */
export function setupPicture(site: Site, account: { email: string; secret: string }): Html {
  const { email, secret } = account
  const uri = totpUri(secret, { issuer: site.domain, label: email })
  return html`
    <div class="qr" role="img" aria-label="QR code for your authenticator app">
      ${Html.trusted(encodeQr(uri, 'svg').replace('<svg ', '<svg aria-hidden="true" '))}
    </div>
    <p class="hint qr-words">
      No camera? Open
      <a class="link" href="${uri}">your app on this device</a> or enter this key:
      <b class="key">${secret.match(/.{4}/g)?.join(' ')}</b>
    </p>
  `
}

/** The recovery codes, which are shown this once. */
export const recoveryCodesPage = (
  page: Pick<HtmlPage, 'site' | 'cookies' | 'headers'>,
  codes: readonly string[],
  next: { readonly href: string; readonly label: string },
): Response =>
  htmlPage({
    ...page,
    title: 'Your recovery codes',
    body: html`
      <header>
        <h1>Your recovery codes</h1>
        <p class="lead">
          Keep them where you find them without your device: on paper, or in a password manager.
          Each signs you in once instead of a code of your app. They are not shown again.
        </p>
      </header>
      <ul class="codes">
        ${codes.map((code) => html`<li>${code}</li>`)}
      </ul>
      <div class="actions"><a class="button" href="${next.href}">${next.label}</a></div>
    `,
  })
