import { CSRF_FIELD } from '#http/oidc/csrf.ts'
import { type Words, say } from '#languages/message.ts'

import { type Field, fieldOf, isEmpty, hasError } from './field.ts'
import { type FormErrors, NO_ERRORS } from './form-errors.ts'
import { type Html, html } from './html.ts'
import { type HtmlPage, htmlPage } from './page.ts'

/** What was typed into a form already, and the errors of that. */
export interface FormState {
  readonly typed: URLSearchParams
  readonly errors: FormErrors
}

export const EMPTY_FORM: FormState = { typed: new URLSearchParams(), errors: NO_ERRORS }

export interface FormPage extends Pick<
  HtmlPage,
  'title' | 'language' | 'site' | 'formTargets' | 'cookies' | 'headers'
> {
  readonly lead: Html | Words
  /** A picture above the title. */
  readonly emblem?: Html | undefined
  /** Left out where the form contains a secret of its own, such as an invite's token. */
  readonly csrfToken?: string
  /** Path and query to which the form goes. */
  readonly action: string
  readonly fields: readonly Field[]
  readonly hidden?: Readonly<Record<string, string>>
  /** The user name for the browser's password manager. */
  readonly account?: string
  readonly submit: Words
  readonly errors: FormErrors
  /** A message of success, shown when there are no errors. */
  readonly notice?: Words | undefined
  /** Another way to sign in, shown before the form. */
  readonly instead?: Html | undefined
  /** Another way, shown after the form. */
  readonly after?: Html | undefined
  /** The button that says no, under the one that says yes. */
  readonly refusal?: { readonly value: string; readonly label: Words }
  /** A second button in the form. */
  readonly again?: { readonly value: string; readonly label: Words; readonly words: Words }
  /** Shown under the form. */
  readonly more?: Html | undefined
}

/** A page with one form. The focus is on a field with an error, or else on the first empty one. */
export function formPage(parts: FormPage): Response {
  const { title, errors, fields } = parts
  const wrong = fields.filter((field) => hasError(field, errors))
  const focused = wrong.find(isEmpty) ?? wrong[0] ?? fields.find(isEmpty)
  const body = html`
    <header>
      ${parts.emblem}
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
      ${
        parts.refusal &&
        html`<button class="button plain" name="action" value="${parts.refusal.value}">
          ${parts.refusal.label}
        </button>`
      }
      ${againOf(parts.again)}
    </form>
    ${parts.after} ${parts.more && html`<div class="more">${parts.more}</div>`}
  `
  const named = errors === NO_ERRORS ? title : say('page.error', { title })
  return htmlPage({
    ...parts,
    title: named,
    body,
    pictured: parts.emblem !== undefined,
    scripted: fields.some(({ type }) => type === 'password'),
    status: errors.status,
    headers: { ...parts.headers, ...errors.headers },
  })
}

const hiddenOf = ({ csrfToken, hidden }: FormPage): Readonly<Record<string, string>> => ({
  ...(csrfToken !== undefined && { [CSRF_FIELD]: csrfToken }),
  ...hidden,
})

/** A line of text that ends with a link. */
export const linkLine = (words: Words, href: string, label: Words): Html =>
  html`<p>${words} <a class="link" href="${href}">${label}</a></p>`

function messageOf({ errors, fields, notice }: FormPage): Html | undefined {
  const unplaced = [...errors.fields].filter(
    ([name]) => !fields.some((field) => field.name === name),
  )
  const messages =
    errors.message === undefined ? unplaced.flatMap(([, texts]) => texts) : [errors.message]
  if (messages.length > 0) {
    return html`<p class="alert" id="alert" role="alert">${joined(messages)}</p>`
  }
  return notice === undefined || errors !== NO_ERRORS
    ? undefined
    : html`<p class="alert good" role="status">${notice}</p>`
}

/** One after the other, with spaces between them. */
const joined = (texts: readonly Words[]): readonly Words[] =>
  texts.flatMap((text, at) => (at === 0 ? [text] : [' ', text]))

const accountOf = (account: string): Html =>
  html`<input type="text" name="username" autocomplete="username" value="${account}" hidden />`

const againOf = (again: FormPage['again']): Html | undefined =>
  again &&
  html`<p class="hint">
    ${again.words}
    <button class="link" name="action" value="${again.value}" formnovalidate>${again.label}</button>
  </p>`
