import encodeQr from 'qr'

import { codeField } from '#http/oidc/fields.ts'
import type { Field } from '#http/oidc/pages/field.ts'
import { Html, html } from '#http/oidc/pages/html.ts'
import { type HtmlPage, htmlPage } from '#http/oidc/pages/page.ts'
import { totpUri } from '#identity/second-factors/totp.ts'
import { type LocalizedText, t } from '#languages/message.ts'
import type { Site } from '#sites/site.ts'

/** The hidden field that carries the sealed secret. */
export const SETUP_FIELD = 'setup'

export const APP_CODE: Field = { ...codeField, label: t('field.app-code') }

export const RECOVERY_CODE: Field = {
  name: 'code',
  label: t('field.recovery-code'),
  type: 'text',
  autocomplete: 'off',
  hint: t('field.recovery-code-hint'),
}

/** The picture that an app takes, and the same in letters. */
export function setupPicture(site: Site, account: { email: string; secret: string }): Html {
  const { email, secret } = account
  const uri = totpUri(secret, { issuer: site.domain, label: email })
  return html`
    <div class="qr" role="img" aria-label="${t('second-step.picture')}">
      ${Html.trusted(encodeQr(uri, 'svg').replace('<svg ', '<svg aria-hidden="true" '))}
    </div>
    <p class="hint qr-words">
      ${t('second-step.no-camera', { app: html`<a class="link" href="${uri}">${t('second-step.app-here')}</a>` })}
      <b class="key">${secret.match(/.{4}/g)?.join(' ')}</b>
    </p>
  `
}

/** The recovery codes, which are shown this once. */
export const recoveryCodesPage = (
  page: Pick<HtmlPage, 'site' | 'language' | 'cookies'>,
  codes: readonly string[],
  next: { readonly href: string; readonly label: LocalizedText },
): Response =>
  htmlPage({
    ...page,
    title: t('second-step.codes-title'),
    body: html`
      <header>
        <h1>${t('second-step.codes-title')}</h1>
        <p class="lead">${t('second-step.codes-lead')}</p>
      </header>
      <ul class="codes">
        ${codes.map((code) => html`<li>${code}</li>`)}
      </ul>
      <div class="actions"><a class="button" href="${next.href}">${next.label}</a></div>
    `,
  })
