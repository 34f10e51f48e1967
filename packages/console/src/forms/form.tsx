import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'

import { type Problem, problemOf } from '#app/api/problem.ts'
import { Button } from '#app/components/button.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { currentPath } from '#app/router/router.ts'
import { t } from '#app/texts/shell.ts'

import { keepDraft, markSent, markUnsent, takeDraft } from './drafts.ts'

export type FormValues = Readonly<Record<string, unknown>>

export interface FormOptions<Values extends FormValues> {
  /** Unique on the screen: what was typed is kept under it. */
  readonly name: string
  readonly initial: Values
  /** Rejects with what the API says, which is shown at the fields it names. */
  readonly submit: (values: Values) => Promise<unknown>
  /** Fields that are kept nowhere. */
  readonly secrets?: readonly (keyof Values & string)[]
}

export interface FormState<Values extends FormValues> {
  readonly values: Signal<Values>
  readonly problem: Signal<Problem | undefined>
  readonly isSending: Signal<boolean>
  readonly isChanged: boolean
  readonly set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void
  /** Puts back what was there before. */
  readonly reset: () => void
  readonly send: () => Promise<void>
}

/** The state of a form. Input that was not sent is kept when the person leaves the screen and comes back, also by a sign-in. */
export function useForm<Values extends FormValues>(
  options: FormOptions<Values>,
): FormState<Values> {
  const { name, initial, secrets = [] } = options
  const key = useMemo(() => `${currentPath.peek()} ${name}`, [name])
  const draft = useMemo(() => takeDraft(key) as Partial<Values> | undefined, [key])
  const values = useSignal<Values>({ ...initial, ...draft })
  const problem = useSignal<Problem | undefined>(undefined)
  const isSending = useSignal(false)
  const latest = useRef(options)
  latest.current = options
  const isChanged = !isSame(values.value, initial)
  useEffect(() => {
    if (isChanged) markUnsent(key, () => without(values.peek(), secrets))
    else markSent(key)
  }, [isChanged, key])
  useEffect(() => () => keepDraft(key), [key])
  const send = async () => {
    if (isSending.peek()) return
    isSending.value = true
    problem.value = undefined
    try {
      await latest.current.submit(values.peek())
      markSent(key)
    } catch (error) {
      problem.value = problemOf(error)
    } finally {
      isSending.value = false
    }
  }
  return {
    values,
    problem,
    isSending,
    isChanged,
    send,
    set: (field, value) => {
      values.value = { ...values.peek(), [field]: value }
    },
    reset: () => {
      values.value = latest.current.initial
      problem.value = undefined
      markSent(key)
    },
  }
}

export interface FormProps<Values extends FormValues> {
  readonly form: FormState<Values>
  readonly children: ComponentChildren
  /** On the button: `Send invite`. */
  readonly action: string
  readonly onCancel?: () => void
  /** Takes no click before something is changed: for settings. */
  readonly needsChange?: boolean
}

export function Form<Values extends FormValues>(props: FormProps<Values>): JSX.Element {
  const { form, children, action, onCancel, needsChange = false } = props
  const element = useRef<HTMLFormElement>(null)
  const problem = form.problem.value
  useEffect(() => {
    const first = element.current?.querySelector<HTMLElement>('[aria-invalid=true]')
    first?.focus()
  }, [problem])
  return (
    <form
      ref={element}
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        void form.send()
      }}
    >
      {problem && !isAtFields(problem, element.current) && <ProblemNote problem={problem} />}
      {children}
      <footer class="form-foot">
        {onCancel && <Button onClick={onCancel}>{t('dialog.cancel')}</Button>}
        {needsChange && form.isChanged && <Button onClick={form.reset}>{t('form.reset')}</Button>}
        <Button
          look="primary"
          type="submit"
          isBusy={form.isSending.value}
          disabled={needsChange && !form.isChanged}
        >
          {action}
        </Button>
      </footer>
    </form>
  )
}

/** Whether all that the API says is about fields of this form. */
function isAtFields({ fields }: Problem, form: HTMLFormElement | null): boolean {
  const names = Object.keys(fields)
  return names.length > 0 && names.every((name) => form?.elements.namedItem(name))
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

const without = (values: FormValues, names: readonly string[]): FormValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)))
