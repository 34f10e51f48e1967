import { type LocalizedText, t } from '#languages/message.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import type { Site } from '#sites/site.ts'

import { type Html, html } from './html.ts'
import { type HtmlPage, htmlPage } from './page.ts'

/** What it is, and what it says. */
export type SupportLine = readonly [label: LocalizedText, text: LocalizedText | Html]

/** Whose page it is; undefined names are those of a host that is no site. */
export type LinkedSite = Pick<Site, 'domain'> &
  Partial<Pick<Site, 'adminDomain' | 'authDomain'>> & {
    /** The name that it was requested by. */
    readonly host?: string
  }

/** Leads from a page to the site, which may be under another name. `address` is any of the installation. */
export const backToSite = (site: LinkedSite, address: string): NoticeLink => ({
  href: siteHref(site, address),
  label: t('page.back-to-site'),
})

export const siteHref = (
  { domain, adminDomain, authDomain, host = domain }: LinkedSite,
  address: string,
): string =>
  adminDomain || authDomain || host !== domain
    ? `${siteBaseUrl(new URL(address).origin, domain)}/`
    : '/'

export interface NoticeLink {
  readonly href: string
  readonly label: LocalizedText
}

export interface Notice extends Pick<
  HtmlPage,
  'title' | 'language' | 'site' | 'status' | 'formTargets' | 'cookies' | 'headers'
> {
  /** `good` says that something was done, and nothing else. */
  readonly tone: 'good' | 'bad' | 'plain'
  /** One paragraph each. */
  readonly text: readonly LocalizedText[]
  /** The first one is the main button. */
  readonly links?: readonly NoticeLink[]
  /** Small print for support, one line each. */
  readonly reference?: readonly SupportLine[]
}

const SIGNS: Record<Notice['tone'], Html> = {
  good: html`<path d="m5 12.5 4.5 4.5L19 7.5" />`,
  bad: html`<path d="M12 6.5v7M12 17.5v.01" />`,
  plain: html`<path d="M12 6.5v.01M12 10.5v7" />`,
}

/** A page with a message and without a form. */
export function noticePage({ tone, text, links = [], reference = [], ...parts }: Notice): Response {
  const body = html`
    <div class="badge ${tone}">
      <svg
        width="24"
        height="24"
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        stroke-width="2.25"
        stroke-linecap="round"
        stroke-linejoin="round"
        aria-hidden="true"
      >
        ${SIGNS[tone]}
      </svg>
    </div>
    <header>
      <h1>${parts.title}</h1>
      ${text.map((paragraph) => html`<p class="lead">${paragraph}</p>`)}
    </header>
    ${links.length > 0 && html`<div class="actions">${links.map(linkOf)}</div>`}
    ${reference.length > 0 && referenceOf(reference)}
  `
  return htmlPage({ ...parts, body })
}

export const referenceOf = (lines: readonly SupportLine[]): Html =>
  html`<p class="reference">
    ${lines.map(([label, text]) => html`<span>${label}: ${text}</span>`)}
  </p>`

const linkOf = ({ href, label }: NoticeLink, at: number): Html =>
  html`<a class="${at === 0 ? 'button' : 'button plain'}" href="${href}">${label}</a>`
