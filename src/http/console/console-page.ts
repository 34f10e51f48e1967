import { createHash } from 'node:crypto'

import { LANGUAGES, type Language } from '#base/language.ts'
import { evaluatePreconditions } from '#http/objects/preconditions.ts'
import { html } from '#http/oidc/pages/html.ts'
import { openerPolicyAt, OPENER_POLICY } from '#http/opener-policy.ts'
import { t } from '#languages/message.ts'

import type { ConsoleEntry } from './console-files.ts'

/** Scripts, styles and calls of the console's own origin alone, and no markup that a script makes of text. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const UNUSED_FEATURES = [
  'accelerometer',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'usb',
]

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'permissions-policy': UNUSED_FEATURES.map((feature) => `${feature}=()`).join(', '),
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'private, no-cache',
  vary: 'accept-language',
}

/** What the page tells the application. Nothing of it is secret. */
interface ConsoleSettings {
  /** Of the admin pool, at the console's own origin. */
  readonly issuer: string
  readonly clientId: string
  readonly domain: string
  readonly version: string
}

export interface ConsoleView {
  readonly settings: ConsoleSettings
  readonly entry: ConsoleEntry
  readonly language: Language
}

/** The page of the console, the same one at each of its paths. */
export function consolePage(request: Request, view: ConsoleView): Response {
  const text = documentOf(view)
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  const headers = new Headers({ ...HEADERS, etag, 'content-language': view.language })
  const opener = openerPolicyAt(view.settings.issuer, request)
  if (opener !== undefined) headers.set(OPENER_POLICY, opener)
  if (evaluatePreconditions(request.headers, { etag }) === 'unmodified') {
    headers.delete('content-type')
    return new Response(null, { status: 304, headers })
  }
  return new Response(request.method === 'HEAD' ? null : text, { headers })
}

const documentOf = ({ settings, entry, language }: ConsoleView): string =>
  html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <title>${t('page.administration')} · ${settings.domain}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <meta
          name="croft-console"
          content="${JSON.stringify({ ...settings, languages: LANGUAGES })}"
        />
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${entry.styles}" />
        ${entry.preloads.map((path) => html`<link rel="modulepreload" href="${path}" />`)}
        <script type="module" src="${entry.entry}"></script>
      </head>
      <body>
        <div id="app"></div>
        <noscript>
          <p>${t('console.no-script')}</p>
          <p><a href="${settings.issuer}/account">${t('account.title')}</a></p>
        </noscript>
      </body>
    </html> `.render(language)
