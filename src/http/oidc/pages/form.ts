import { CSRF_FIELD } from '#http/oidc/csrf.ts'
import { type LocalizedText, t } from '#languages/message.ts'

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
  readonly lead: Html | LocalizedText
  /** A picture above the title. */
  readonly emblem?: Html | undefined
  /** Left out where the form contains a secret of its own, such as an invite's token. */
  readonly csrfToken?: string
  /** Path and query to which the form goes. */
  readonly action: string
  readonly fields: readonly Field[]
  readonly hidden?: Readonly<Record<string, string>>
  /** The user name for the browser's password manager. */
  readonly account?: string | undefined
  readonly submit: LocalizedText
  readonly errors: FormErrors
  /** A message of success, shown when there are no errors. */
  readonly notice?: LocalizedText | undefined
  /** Another way to sign in, shown before the form. */
  readonly instead?: Html | undefined
  /** Another way, shown after the form. */
  readonly after?: Html | undefined
  /** The button that says no, under the one that says yes. */
  readonly refusal?: { readonly value: string; readonly label: LocalizedText }
  /** A second button in the form. */
  readonly again?: {
    readonly value: string
    readonly label: LocalizedText
    readonly words: LocalizedText
  }
  /** A button that proves the sender by a passkey and sends the form; the page's script shows it. */
  readonly passkeyProof?: { readonly options: object; readonly isOnlyWay: boolean } | undefined
  /** What a device makes a passkey with before the form is sent, which the page's script shows. */
  readonly passkey?: { readonly options: object } | undefined
  /** Shown under the form. */
  readonly more?: Html | undefined
}

/** A page with one form. The focus is on a field with an error, or else on the first empty one. */
export function formPage(parts: FormPage): Response {
  const { title, errors, fields } = parts
  const wrong = fields.filter((field) => hasError(field, errors))
  const focused = wrong.find(isEmpty) ?? wrong[0] ?? fields.find(isEmpty)
  const content = html`
    ${Object.entries(hiddenOf(parts)).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    ${parts.account !== undefined && accountOf(parts.account)}
    ${fields.map((field) => fieldOf(field, errors, field === focused))}
    ${!parts.passkeyProof?.isOnlyWay && html`<button class="button" type="submit">${parts.submit}</button>`}
    ${proofOf(parts)}
    ${
      parts.refusal &&
      html`<button class="button plain" name="action" value="${parts.refusal.value}">
        ${parts.refusal.label}
      </button>`
    }
    ${againOf(parts.again)}
  `
  const body = html`
    <header>
      ${parts.emblem}
      <h1>${title}</h1>
      <p class="lead">${parts.lead}</p>
    </header>
    ${messageOf(parts)} ${parts.instead} ${formOf(parts, content)} ${parts.after}
    ${parts.more && html`<div class="more">${parts.more}</div>`}
  `
  const named = errors === NO_ERRORS ? title : t('page.error', { title })
  return htmlPage({
    ...parts,
    title: named,
    body,
    pictured: parts.emblem !== undefined,
    scripted: isScripted(parts),
    status: errors.status,
    headers: { ...parts.headers, ...errors.headers },
  })
}

const isScripted = ({ fields, passkey, passkeyProof }: FormPage): boolean =>
  fields.some(({ type }) => type === 'password') || (passkey ?? passkeyProof) !== undefined

/** One that makes a passkey is shown by the script. */
const formOf = ({ action, passkey }: FormPage, content: Html): Html =>
  passkey === undefined
    ? html`<form method="post" action="${action}">${content}</form>`
    : html`<form
        method="post"
        action="${action}"
        data-passkey="${JSON.stringify(passkey.options)}"
        data-kind="create"
        hidden
      >
        ${content}
      </form>`

function proofOf({ passkeyProof, submit }: FormPage): Html | undefined {
  if (!passkeyProof) return undefined
  const { options, isOnlyWay } = passkeyProof
  const button = isOnlyWay
    ? html`<button class="button" type="button">${submit}</button>`
    : html`<p class="or">${t('page.or')}</p>
        <button class="button plain" type="button">${t('proof.passkey')}</button>`
  return html`<div data-proof="${JSON.stringify(options)}" hidden>${button}</div>
    ${isOnlyWay && html`<p class="alert without-passkeys">${t('passkey.none-here')}</p>`}`
}

const hiddenOf = ({ csrfToken, hidden }: FormPage): Readonly<Record<string, string>> => ({
  ...(csrfToken !== undefined && { [CSRF_FIELD]: csrfToken }),
  ...hidden,
})

/** A line of text that ends with a link. */
export const linkLine = (words: LocalizedText, href: string, label: LocalizedText): Html =>
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
const joined = (texts: readonly LocalizedText[]): readonly LocalizedText[] =>
  texts.flatMap((text, at) => (at === 0 ? [text] : [' ', text]))

const accountOf = (account: string): Html =>
  html`<input type="text" name="username" autocomplete="username" value="${account}" hidden />`

const againOf = (again: FormPage['again']): Html | undefined =>
  again &&
  html`<p class="hint">
    ${again.words}
    <button class="link" name="action" value="${again.value}" formnovalidate>${again.label}</button>
  </p>`
