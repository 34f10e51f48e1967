import { CSRF_FIELD } from '#http/oidc/csrf.ts'
import { type Html, html } from '#http/oidc/pages/html.ts'
import { type LocalizedText, t } from '#languages/message.ts'

/** The hidden fields of the form: what the device made of the challenge, and the challenge. */
export const CREDENTIAL_FIELD = 'credential'
export const CHALLENGE_FIELD = 'challenge'

interface PasskeyForm {
  readonly action: string
  readonly csrfToken: string
  readonly sealed: string
  /** For `navigator.credentials`: bytes are base64url. */
  readonly options: object
  readonly kind: 'get' | 'create'
  readonly label: LocalizedText
  /** For a way beside another one. */
  readonly plain?: true
  /** Whether the browser may offer its keys before the button is pressed. */
  readonly offered?: boolean
}

/** A button that the page's script shows in a browser that has passkeys. */
export const passkeyForm = (form: PasskeyForm): Html =>
  html`<form
    method="post"
    action="${form.action}"
    data-passkey="${JSON.stringify(form.options)}"
    data-kind="${form.kind}"
    ${form.offered && html`data-offered`}
    hidden
  >
    <input type="hidden" name="${CSRF_FIELD}" value="${form.csrfToken}" />
    <input type="hidden" name="${CHALLENGE_FIELD}" value="${form.sealed}" />
    <input type="hidden" name="${CREDENTIAL_FIELD}" value="" />
    ${form.plain && html`<p class="or">${t('page.or')}</p>`}
    <button class="button${form.plain ? ' plain' : ''}" type="submit">${form.label}</button>
  </form>`
