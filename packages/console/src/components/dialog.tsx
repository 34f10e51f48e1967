import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

import { t } from '#app/texts/shell.ts'

import { IconButton } from './button.tsx'

/** What takes the focus: a field, else what the dialog offers to do. */
const FIRST = 'input, select, textarea, .dialog-foot .button'

export interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Slides in from the side: for what is read beside a list. */
  readonly isPanel?: boolean
}

/** A modal dialog, open while it is rendered. The browser keeps the focus within it and gives it back. */
export function Dialog({ title, onClose, children, isPanel = false }: DialogProps): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    // The browser would choose the button that closes.
    dialog?.querySelector<HTMLElement>(FIRST)?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      class={isPanel ? 'dialog panel' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        if (event.target === ref.current) onClose()
      }}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={titleId}>{title}</h2>
          <IconButton icon="close" label={t('dialog.close')} onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  )
}
