import type { MenuItem } from '#app/components/menu.tsx'

import type { ListedMessage, MessageMove } from './message-moves.ts'
import { t } from './texts.ts'

/** Where a message can go from its folder, for a menu. */
export function moveItems(
  { folder, deleted }: Pick<ListedMessage, 'folder' | 'deleted'>,
  move: (where: MessageMove) => void,
): readonly MenuItem[] {
  const isTrashed = folder === 'TRASH'
  const restore = {
    label: t('mail.restore'),
    icon: 'history',
    onSelect: () => move('restore'),
  } as const
  const archive = {
    label: t('mail.archive'),
    icon: 'archive',
    onSelect: () => move('archive'),
  } as const
  const remove = {
    label: t(isTrashed ? 'mail.delete-trashed' : 'mail.delete'),
    icon: 'trash',
    onSelect: () => move('delete'),
  } as const
  return [
    ...(isTrashed ? [restore] : folder === 'ARCHIVE' ? [] : [archive]),
    ...(deleted ? [] : [remove]),
  ]
}
