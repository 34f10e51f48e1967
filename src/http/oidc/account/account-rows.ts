import { CSRF_FIELD } from '#http/oidc/csrf.ts'
import { type Html, html } from '#http/oidc/pages/html.ts'
import type { LocalizedText } from '#languages/message.ts'

import { type AccountRequest, pathTo } from './account-request.ts'

/** One thing of an account: its name, its state, and what can be done to it. */
export const accountRow = (
  label: LocalizedText,
  value: LocalizedText | Html,
  action?: Html,
): Html =>
  html`<li class="row">
    <div>
      <h3>${label}</h3>
      <p class="hint">${value}</p>
    </div>
    ${action}
  </li>`

/** Leads to a page on which it is changed. */
export const rowLink = (href: string, label: LocalizedText, what: LocalizedText): Html =>
  html`<a class="link" href="${href}">${label}${visuallyHidden(what)}</a>`

/** For screen readers. */
export const visuallyHidden = (what: LocalizedText): Html =>
  html`<span class="visually-hidden"> ${what}</span>`

interface RowButton {
  readonly action: string
  readonly label: LocalizedText
  /** For screen readers. */
  readonly what?: LocalizedText | undefined
  readonly hidden?: Readonly<Record<string, string>>
}

/** Does it at once: a form of its own, which posts to the page. */
export const rowButton = (
  { pool, csrf }: AccountRequest,
  page: string,
  { action, label, what, hidden = {} }: RowButton,
): Html =>
  html`<form method="post" action="${pathTo(pool, page)}">
    <input type="hidden" name="${CSRF_FIELD}" value="${csrf.token}" />
    ${Object.entries(hidden).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <button class="link" name="action" value="${action}">
      ${label}${what !== undefined && visuallyHidden(what)}
    </button>
  </form>`
