import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'

import type { FormState } from './form.tsx'

/** The names of the values that may be of a type. */
type NameOf<Values, Type> = {
  [Name in keyof Values]: Extract<Values[Name], Type> extends never ? never : Name
}[keyof Values] &
  string

interface FieldProps<Values extends Readonly<Record<string, unknown>>, Name extends string> {
  readonly form: FormState<Values>
  /** That of the API: its errors are shown at the field of that name. */
  readonly name: Name
  readonly label: string
  readonly hint?: ComponentChildren
}

export interface TextFieldProps<
  Values extends Readonly<Record<string, unknown>>,
> extends FieldProps<Values, NameOf<Values, string>> {
  readonly type?: 'text' | 'email' | 'url' | 'password' | 'search' | 'tel' | 'number'
  readonly required?: boolean
  readonly maxLength?: number | undefined
  readonly pattern?: string | undefined
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly step?: number | 'any'
  readonly placeholder?: string
  readonly autocomplete?: string
  /** Several lines. */
  readonly rows?: number
  /** A name, a path, code: no spelling, a type of fixed width. */
  readonly isCode?: boolean
}

export function TextField<Values extends Readonly<Record<string, unknown>>>(
  props: TextFieldProps<Values>,
): JSX.Element {
  const {
    form,
    name,
    label,
    hint,
    rows,
    isCode = false,
    type = 'text',
    autocomplete = 'off',
    ...rest
  } = props
  const value = form.values.value[name] as string
  const change = (next: string) => form.set(name, next as Values[typeof name])
  return (
    <Field error={form.problem.value?.fields[name]} label={label} hint={hint}>
      {(control) =>
        rows === undefined ? (
          <input
            {...control}
            {...rest}
            name={name}
            class={isCode ? 'input code' : 'input'}
            // One of several, where the declaration of elements wants one for each.
            type={type as 'text'}
            value={value}
            autocomplete={autocomplete}
            spellcheck={!isCode && type === 'text'}
            autocapitalize={isCode || type === 'email' ? 'none' : undefined}
            onInput={(event) => change(event.currentTarget.value)}
          />
        ) : (
          <textarea
            {...control}
            {...rest}
            name={name}
            class={isCode ? 'input code' : 'input'}
            rows={rows}
            value={value}
            spellcheck={!isCode}
            onInput={(event) => change(event.currentTarget.value)}
          />
        )
      }
    </Field>
  )
}

interface Choice {
  readonly value: string
  readonly label: string
}

export interface SelectFieldProps<
  Values extends Readonly<Record<string, unknown>>,
> extends FieldProps<Values, NameOf<Values, string>> {
  readonly choices: readonly Choice[]
}

export function SelectField<Values extends Readonly<Record<string, unknown>>>(
  props: SelectFieldProps<Values>,
): JSX.Element {
  const { form, name, label, hint, choices } = props
  return (
    <Field error={form.problem.value?.fields[name]} label={label} hint={hint}>
      {(control) => (
        <select
          {...control}
          name={name}
          class="input"
          value={form.values.value[name] as string}
          onChange={(event) => form.set(name, event.currentTarget.value as Values[typeof name])}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export function SwitchField<Values extends Readonly<Record<string, unknown>>>(
  props: FieldProps<Values, NameOf<Values, boolean>>,
): JSX.Element {
  const { form, name, label, hint } = props
  const id = useId()
  return (
    <div class="field switch-field">
      <input
        id={id}
        name={name}
        class="switch"
        type="checkbox"
        role="switch"
        checked={form.values.value[name] as boolean}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => form.set(name, event.currentTarget.checked as Values[typeof name])}
      />
      <label for={id}>
        <span class="field-label">{label}</span>
      </label>
      {hint !== undefined && (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
    </div>
  )
}

interface Control {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

export interface FieldFrameProps {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  readonly children: (control: Control) => JSX.Element
}

/** Label, hint and error around a control of any kind. */
export function Field({ label, hint, error, children }: FieldFrameProps): JSX.Element {
  const id = useId()
  const described = [
    hint === undefined ? '' : `${id}-hint`,
    error === undefined ? '' : `${id}-error`,
  ]
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': described.join(' ').trim() || undefined,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} class="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  )
}
