import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'

import { type Problem, problemOf } from '#app/api/problem.ts'
import { t } from '#app/texts/shell.ts'

import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { ProblemNote } from './problem-note.tsx'

export interface ConfirmByTypingProps {
  readonly title: string
  /** What will be gone, and that it cannot be undone. */
  readonly children: ComponentChildren
  /** What the person types: the name of the thing. */
  readonly name: string
  /** On the button: `Delete admin`. */
  readonly action: string
  /** Rejects with what the API says, which is shown. */
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

/** Asks for the name of what is about to be gone for good. For what can be undone, use `undoable`. */
export function ConfirmByTyping(props: ConfirmByTypingProps): JSX.Element {
  const { title, children, name, action, onConfirm, onClose } = props
  const typed = useSignal('')
  const isBusy = useSignal(false)
  const problem = useSignal<Problem | undefined>(undefined)
  const inputId = useId()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (typed.value.trim() !== name || isBusy.value) return
    isBusy.value = true
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      problem.value = problemOf(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <div class="prose">{children}</div>
        <ProblemNote problem={problem.value} />
        <label class="field" for={inputId}>
          <span class="field-label">{t('confirm.type', { name })}</span>
          <input
            id={inputId}
            class="input"
            value={typed.value}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => (typed.value = event.currentTarget.value)}
          />
        </label>
        <footer class="dialog-foot">
          <Button onClick={onClose}>{t('dialog.cancel')}</Button>
          <Button
            look="danger"
            type="submit"
            disabled={typed.value.trim() !== name}
            isBusy={isBusy.value}
          >
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
