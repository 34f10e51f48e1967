import { signal } from '@preact/signals'
import type { JSX } from 'preact'

import { problemOf } from '#app/api/problem.ts'
import { t } from '#app/texts/shell.ts'

import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'

const SHOWN_MS = 6000

interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: 'plain' | 'bad'
  readonly undo?: () => void
}

const toasts = signal<readonly Toast[]>([])
let lastId = 0

/** What waits for its time to be undone. */
const waiting = new Map<number, () => void>()

/** Says that something is done. */
export const toast = (text: string): void => void show({ text, tone: 'plain' }, SHOWN_MS)

/** Says that something failed that has no place on the screen. */
export const toastProblem = (error: unknown): void =>
  void show({ text: problemOf(error).message, tone: 'bad' }, 2 * SHOWN_MS)

export interface Undoable {
  /** What is done: `The alias "info" is deleted`. */
  readonly text: string
  /** Makes the call. It is not begun before the time to undo is over. */
  readonly run: () => Promise<unknown>
  /** Takes back what the screen already shows. Also where the call fails. */
  readonly onUndo: () => void
}

/**
 * Does something that can be taken back for six seconds. The call is sent after them, or at once when the person leaves the tab, goes
 * to another screen or closes the toast: what was not undone is never lost.
 */
export function undoable({ text, run, onUndo }: Undoable): void {
  const id = show(
    {
      text,
      tone: 'plain',
      undo: () => {
        settle(id)
        onUndo()
      },
    },
    SHOWN_MS,
  )
  waiting.set(id, () => {
    void run().catch((error: unknown) => {
      onUndo()
      toastProblem(error)
    })
  })
}

/** Sends at once what waits. */
export function sendWaiting(): void {
  for (const id of waiting.keys()) dismiss(id)
}

/** Sends what waits before the tab is gone. */
export function sendWaitingOnLeave(): void {
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') sendWaiting()
  })
  addEventListener('pagehide', sendWaiting)
}

function show(toast: Omit<Toast, 'id'>, ms: number): number {
  const id = ++lastId
  toasts.value = [...toasts.value.slice(-2), { ...toast, id }]
  setTimeout(() => dismiss(id), ms)
  return id
}

/** Ends its time: what waits for it is sent. */
function dismiss(id: number): void {
  const send = waiting.get(id)
  settle(id)
  send?.()
}

function settle(id: number): void {
  waiting.delete(id)
  toasts.value = toasts.value.filter((shown) => shown.id !== id)
}

export const Toasts = (): JSX.Element => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, tone, undo }) => (
      <div key={id} class={`toast ${tone}`}>
        <Icon name={tone === 'bad' ? 'warning' : 'check'} />
        <span>{text}</span>
        {undo && (
          <button class="toast-action" type="button" onClick={undo}>
            {t('toast.undo')}
          </button>
        )}
        <IconButton icon="close" label={t('dialog.close')} onClick={() => dismiss(id)} />
      </div>
    ))}
  </div>
)
