import type { LocalizedText } from '#languages/message.ts'

import type { FormErrors } from './form-errors.ts'
import { type Html, html } from './html.ts'

export interface Field {
  readonly name: string
  readonly label: LocalizedText
  readonly type: 'email' | 'password' | 'text'
  readonly autocomplete: string
  /** Not used for passwords. */
  readonly value?: string | undefined
  readonly hint?: LocalizedText | undefined
  readonly kind?: 'code'
  readonly readOnly?: true
  /** Whether it may be left empty. */
  readonly optional?: true
}

/** A field with its label, hint and errors, which screen readers find through ids. */
export function fieldOf(field: Field, errors: FormErrors, focused: boolean): Html {
  const { name, hint } = field
  const own = errors.fields.get(name) ?? []
  return html`<div class="field">
    <label for="${name}">${field.label}</label>
    <input
      id="${name}"
      name="${name}"
      type="${field.type}"
      autocomplete="${field.autocomplete}"
      ${attributesOf(field, errors, focused)}
    />
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${own.length > 0 && html`<div class="fault" id="${name}-fault">${listOf(own)}</div>`}
  </div>`
}

export const hasError = ({ name }: Field, errors: FormErrors): boolean =>
  errors.fields.has(name) || errors.markedFields.includes(name)

export const isEmpty = ({ type, value }: Field): boolean => type === 'password' || !value

/** Each begins with a space. */
function attributesOf(field: Field, errors: FormErrors, focused: boolean): readonly Html[] {
  const described = descriptionsOf(field, errors).join(' ')
  const attributes = [
    field.kind === 'code' && html` class="code" inputmode="numeric" spellcheck="false"`,
    field.type === 'email' && html` autocapitalize="none" spellcheck="false"`,
    !isEmpty(field) && html` value="${field.value}"`,
    described !== '' && html` aria-describedby="${described}"`,
    hasError(field, errors) && html` aria-invalid="true"`,
    focused && html` autofocus`,
    field.readOnly && html` readonly`,
    !field.optional && html` required`,
  ]
  return attributes.filter((attribute) => typeof attribute === 'object')
}

function descriptionsOf(field: Field, errors: FormErrors): readonly string[] {
  const { name, hint } = field
  const ids = hint === undefined ? [] : [`${name}-hint`]
  if (errors.fields.has(name)) return [...ids, `${name}-fault`]
  return hasError(field, errors) ? [...ids, 'alert'] : ids
}

const listOf = (errors: readonly LocalizedText[]): Html =>
  errors.length === 1
    ? html`<p>${errors[0]}</p>`
    : html`<ul>
        ${errors.map((fault) => html`<li>${fault}</li>`)}
      </ul>`
