import { createHash } from 'node:crypto'

import type { Language } from '#base/language.ts'
import { type LocalizedText, t } from '#languages/message.ts'
import { type Site, logoPath } from '#sites/site.ts'

import { type BrandStyle, brandStyleOf } from './brand-style.ts'
import { Html, html } from './html.ts'
import { pageScript } from './script.ts'
import { styleSheet } from './style-sheet.ts'

export interface HtmlPage {
  /** The window's title, before the site's name. */
  readonly title: LocalizedText
  /** Of its reader. */
  readonly language: Language
  /** The site whose domain, color and logo the page shows. */
  readonly site: Pick<Site, 'domain' | 'branding'>
  readonly body: Html
  /** For a page that is more than one form. */
  readonly wide?: true
  /** For a page with passwords or passkeys. */
  readonly scripted?: boolean
  /** For a page with pictures of ours. */
  readonly pictured?: boolean
  readonly status?: number
  /** Origins (or schemes, `app:`) to which an answer to this page's form may redirect, beside our own. */
  readonly formTargets?: readonly string[]
  readonly cookies?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

const STYLE_HASH = createHash('sha256').update(styleSheet).digest('base64')
const SCRIPT_HASH = createHash('sha256').update(pageScript).digest('base64')
/** Must be the hashed text byte for byte. */
const STYLE = Html.trusted(`<style>${styleSheet}</style>`)
const SCRIPT = Html.trusted(`<script>${pageScript}</script>`)
const ICON_COLOR = '#5b5bd6'
const squareOf = (color: string): string =>
  `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='5' fill='%23${color.slice(1)}'/%3E%3C/svg%3E`

/** A whole page: our style sheet and the site's color, no script but ours, nothing from other origins; it is neither framed nor cached. */
export function htmlPage({ formTargets = [], cookies = [], ...parts }: HtmlPage): Response {
  const { color } = parts.site.branding ?? {}
  const style = color === undefined ? undefined : brandStyleOf(color)
  const headers = new Headers({
    'content-type': 'text/html; charset=utf-8',
    'content-language': parts.language,
    'content-security-policy': contentSecurityPolicy(parts, formTargets, style?.hash),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-resource-policy': 'same-origin',
    // Other sites must not see path and query; `no-referrer` would also remove the Origin header from the page's form.
    'referrer-policy': 'strict-origin',
    ...parts.headers,
  })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(documentOf(parts, style?.element), { status: parts.status ?? 200, headers })
}

/** Browsers check `form-action` again when the answer to a form redirects: the client's own origin must be in it. */
const contentSecurityPolicy = (
  { scripted = false, pictured = false, site }: Pick<HtmlPage, 'scripted' | 'pictured' | 'site'>,
  formTargets: readonly string[],
  brandHash: BrandStyle['hash'] | undefined,
): string =>
  [
    "default-src 'none'",
    ...(scripted ? [`script-src 'sha256-${SCRIPT_HASH}'`] : []),
    `style-src 'sha256-${STYLE_HASH}'${brandHash === undefined ? '' : ` 'sha256-${brandHash}'`}`,
    `img-src data:${pictured || site.branding?.logoVersion !== undefined ? " 'self'" : ''}`,
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')

/** What the script's button says. */
const SHOW_WORDS = html` data-show="${t('page.show-password')}"
data-hide="${t('page.hide-password')}"`

/** Each site keeps one of the style sheet's eight hues. */
const hueOf = (domain: string): number =>
  (createHash('sha256').update(domain).digest().at(0) ?? 0) % 8

/** The window's: the site's logo, or a square of its color. */
function iconOf({ branding }: HtmlPage['site']): string {
  const { color = ICON_COLOR, logoVersion } = branding ?? {}
  return logoVersion === undefined ? squareOf(color) : logoPath(logoVersion)
}

/** Beside the domain: the site's logo, or the first letter in its color. */
function markOf({ domain, branding }: HtmlPage['site']): Html {
  const { color, logoVersion } = branding ?? {}
  if (logoVersion !== undefined) {
    return html`<img class="mark" src="${logoPath(logoVersion)}" alt="" width="32" height="32" />`
  }
  const hue = color === undefined ? `mark-${hueOf(domain)}` : 'own'
  return html`<span class="mark ${hue}" aria-hidden="true">${domain.slice(0, 1)}</span>`
}

const documentOf = (
  { title, language, site, body, wide, scripted }: HtmlPage,
  brandStyle: BrandStyle['element'] | undefined,
): string =>
  html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <title>${title} · ${site.domain}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href="${iconOf(site)}" />
        ${STYLE} ${brandStyle}
      </head>
      <body>
        <main${wide && html` class="wide"`}${scripted && SHOW_WORDS}>
          <p class="site">${markOf(site)}${site.domain}</p>
          ${body}
        </main>
        ${scripted && SCRIPT}
      </body>
    </html>`.render(language)
