import { CSRF_FIELD } from '#http/oidc/csrf.ts'

import { type Field, fieldOf, isEmpty, hasError } from './field.ts'
import { type FormErrors, NO_ERRORS } from './form-errors.ts'
import { type Html, html } from './html.ts'
import { type HtmlPage, htmlPage } from './page.ts'

/** What a form shows beside its own words: what was typed already, and what was wrong with it. */
export interface FormState {
  readonly typed: URLSearchParams
  readonly errors: FormErrors
}

export const EMPTY_FORM: FormState = { typed: new URLSearchParams(), errors: NO_ERRORS }

export interface FormPage extends Pick<
  HtmlPage,
  'title' | 'site' | 'formTargets' | 'cookies' | 'headers'
> {
  readonly lead: Html
  /** Left out where what is sent carries its own authority. */
  readonly csrfToken?: string
  /** Path and query to which the form goes. */
  readonly action: string
  readonly fields: readonly Field[]
  readonly hidden?: Readonly<Record<string, string>>
  /** Whose password is set, for the browser that keeps it. */
  readonly account?: string
  readonly submit: string
  readonly errors: FormErrors
  /** Good news, when there is no fault. */
  readonly notice?: string | undefined
  /** Before the form: another way. */
  readonly instead?: Html | undefined
  /** A second button in the form. */
  readonly again?: { readonly value: string; readonly label: string; readonly words: string }
  /** Under the form. */
  readonly more?: Html | undefined
}

/** A page with one form. The field to fill in has the focus: one that is wrong, or else one that is empty. */
export function formPage(parts: FormPage): Response {
  const { title, errors, fields } = parts
  const wrong = fields.filter((field) => hasError(field, errors))
  const focused = wrong.find(isEmpty) ?? wrong[0] ?? fields.find(isEmpty)
  const body = html`
    <header>
      <h1>${title}</h1>
      <p class="lead">${parts.lead}</p>
    </header>
    ${messageOf(parts)} ${parts.instead}
    <form method="post" action="${parts.action}">
      ${Object.entries(hiddenOf(parts)).map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
      )}
      ${parts.account !== undefined && accountOf(parts.account)}
      ${fields.map((field) => fieldOf(field, errors, field === focused))}
      <button class="button" type="submit">${parts.submit}</button>
      ${againOf(parts.again)}
    </form>
    ${parts.more && html`<div class="more">${parts.more}</div>`}
  `
  const named = errors === NO_ERRORS ? title : `Error: ${title}`
  return htmlPage({
    ...parts,
    title: named,
    body,
    status: errors.status,
    headers: { ...parts.headers, ...errors.headers },
  })
}

const hiddenOf = ({ csrfToken, hidden }: FormPage): Readonly<Record<string, string>> => ({
  ...(csrfToken !== undefined && { [CSRF_FIELD]: csrfToken }),
  ...hidden,
})

/** Words and a link. */
export const linkLine = (words: string, href: string, label: string): Html =>
  html`<p>${words} <a class="link" href="${href}">${label}</a></p>`

function messageOf({ errors, fields, notice }: FormPage): Html | undefined {
  const unplaced = [...errors.fields].filter(
    ([name]) => !fields.some((field) => field.name === name),
  )
  const message = errors.message ?? unplaced.flatMap(([, messages]) => messages).join(' ')
  if (message !== '') return html`<p class="alert" id="alert" role="alert">${message}</p>`
  return notice === undefined || errors !== NO_ERRORS
    ? undefined
    : html`<p class="alert good" role="status">${notice}</p>`
}

const accountOf = (account: string): Html =>
  html`<input type="text" name="username" autocomplete="username" value="${account}" hidden />`

const againOf = (again: FormPage['again']): Html | undefined =>
  again &&
  html`<p class="hint">
    ${again.words}
    <button class="link" name="action" value="${again.value}" formnovalidate>${again.label}</button>
  </p>`
