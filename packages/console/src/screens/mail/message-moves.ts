import { signal } from '@preact/signals'

import { api } from '#app/api/api.ts'
import { type ItemOf, invalidate, updateList } from '#app/api/resources.ts'
import { toastProblem, undoable } from '#app/components/toasts.tsx'

import { t } from './texts.ts'

export type ListedMessage = ItemOf<'/admin/api/messages'>
export type MessageMove = 'archive' | 'delete' | 'restore'

type Moved = Pick<ListedMessage, 'id' | 'folder'>

/** Messages that leave their folder, while that can be undone: lists leave them out. */
const leaving = signal<ReadonlySet<string>>(new Set())

/** What a reader asked for that has gone back to the list: the list does it. */
let asked: { readonly message: Moved; readonly move: MessageMove } | undefined

export const isLeaving = (message: Moved): boolean => leaving.value.has(keyOf(message))

/** Moves a message, and lets the person undo it. */
export function moveMessage(message: Moved, move: MessageMove): void {
  const { id, folder } = message
  leaving.value = new Set([...leaving.value, keyOf(message)])
  undoable({
    text: t(move === 'delete' && folder === 'TRASH' ? 'moved.deleted' : `moved.${move}`),
    onUndo: () => stay(message),
    run: async () => {
      await send(id, move)
      updateList('/admin/api/messages', (items) => items.filter((item) => item.id !== id))
      stay(message)
      invalidate('/admin/api/messages', '/admin/api/messages/{messageId}')
    },
  })
}

/** The same from a screen that the person is about to leave: the toast is on the next one. */
export function moveAfterNavigation(message: Moved, move: MessageMove): void {
  asked = { message, move }
}

export function moveAsked(): void {
  const { message, move } = asked ?? {}
  asked = undefined
  if (message && move) moveMessage(message, move)
}

/** Marks a message as read or unread. */
export async function markSeen(id: string, seen: boolean): Promise<void> {
  const change = (item: ListedMessage) => (item.id === id ? { ...item, seen } : item)
  updateList('/admin/api/messages', (items) => items.map(change))
  try {
    await api.post('/admin/api/messages/{messageId}/seen', {
      params: { messageId: id },
      body: { seen },
    })
  } catch (error) {
    toastProblem(error)
  }
  invalidate('/admin/api/messages', '/admin/api/messages/{messageId}')
}

async function send(messageId: string, move: MessageMove): Promise<void> {
  const params = { messageId }
  if (move === 'archive') await api.post('/admin/api/messages/{messageId}/archive', { params })
  if (move === 'restore') await api.post('/admin/api/messages/{messageId}/restore', { params })
  if (move === 'delete') await api.delete('/admin/api/messages/{messageId}', { params })
}

function stay(message: Moved): void {
  leaving.value = new Set([...leaving.value].filter((key) => key !== keyOf(message)))
}

const keyOf = ({ id, folder }: Moved): string => `${folder} ${id}`
