import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'

import { Button } from '#app/components/button.tsx'
import { copyText } from '#app/components/code-block.tsx'
import { type Column, DataTable } from '#app/components/data-table.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { Icon } from '#app/components/icon.tsx'
import { Menu } from '#app/components/menu.tsx'
import { undoable } from '#app/components/toasts.tsx'

import { type Item, writeExact, writeItem } from './exact-json.ts'
import type { OpenItem } from './item-dialog.tsx'
import { deleteItems } from './table-api.ts'
import { type TableShape, columnNames, keyNames, keyText } from './table-shape.ts'
import { t } from './texts.ts'
import type { ItemList } from './use-items.ts'

/** Columns beyond are in the item alone. */
const MAX_COLUMNS = 24
/** On a narrow screen. */
const NARROW_COLUMNS = 5
/** Of a value in a cell. */
const MAX_SHOWN = 200

export interface ItemTableProps {
  readonly resourceId: string
  readonly shape: TableShape
  readonly items: ItemList
  /** Whether the address asks for some of the items alone. */
  readonly isFiltered: boolean
  readonly onOpen: (open: OpenItem) => void
}

/** The items on show, with cells that are edited by a click, and a selection. */
export function ItemTable(props: ItemTableProps): JSX.Element {
  const { resourceId, shape, items, onOpen } = props
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const shown = items.value ?? []
  const isChosen = (item: Item) => selected.value.has(keyText(shape, item))
  useEffect(() => {
    selected.value = new Set()
  }, [resourceId, items.isLoading])
  const remove = (gone: readonly Item[]) => {
    const keys = new Set(gone.map((item) => keyText(shape, item)))
    const before = shown
    items.change((list) => list.filter((item) => !keys.has(keyText(shape, item))))
    selected.value = new Set()
    undoable({
      text: t('item.deleted', { count: gone.length }),
      run: async () => deleteItems(resourceId, shape, gone),
      onUndo: () => items.change((list) => (list.length < before.length ? before : list)),
    })
  }
  return (
    <>
      {shown.length > 0 && (
        <Selection
          shape={shape}
          items={items}
          chosen={shown.filter(isChosen)}
          select={(chosen) =>
            (selected.value = new Set(chosen.map((each) => keyText(shape, each))))
          }
          onDelete={remove}
        />
      )}
      <DataTable
        label={t('table.items')}
        list={items}
        columns={columns({
          ...props,
          isChosen,
          toggle: (item) => {
            const next = new Set(selected.peek())
            const key = keyText(shape, item)
            if (!next.delete(key)) next.add(key)
            selected.value = next
          },
        })}
        rowKey={(item) => keyText(shape, item)}
        rowActions={(item) => (
          <RowMenu item={item} onOpen={onOpen} onDelete={() => remove([item])} />
        )}
        empty={<NoItems {...props} />}
      />
    </>
  )
}

function NoItems({ items, isFiltered, onOpen }: ItemTableProps): JSX.Element {
  if (isFiltered || items.hasMore) {
    return (
      <EmptyState icon="filter" title={t('table.none-found')}>
        {t('table.none-found-lead', { count: items.scanned })}
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon="table"
      title={t('table.none')}
      action={
        <Button icon="add" onClick={() => onOpen({ kind: 'add', item: undefined })}>
          {t('item.add')}
        </Button>
      }
    >
      {t('table.none-lead')}
    </EmptyState>
  )
}

interface SelectionProps {
  readonly shape: TableShape
  readonly items: ItemList
  readonly chosen: readonly Item[]
  readonly select: (items: readonly Item[]) => void
  readonly onDelete: (items: readonly Item[]) => void
}

function Selection({ items, chosen, select, onDelete }: SelectionProps): JSX.Element {
  const shown = items.value ?? []
  const isAll = chosen.length === shown.length
  return (
    <div class="toolbar">
      <Button look="quiet" onClick={() => select(isAll ? [] : shown)}>
        {isAll ? t('select.none') : t('select.all')}
      </Button>
      <span class="faint" role="status">
        {chosen.length === 0
          ? t('table.shown', { count: shown.length })
          : t('select.count', { count: chosen.length })}
      </span>
      {chosen.length > 0 && (
        <Button icon="trash" onClick={() => onDelete(chosen)}>
          {t('select.delete')}
        </Button>
      )}
      <Button look="quiet" icon="refresh" onClick={items.reload} isBusy={items.isLoading}>
        {t('table.reload')}
      </Button>
    </div>
  )
}

interface ColumnsInput extends ItemTableProps {
  readonly isChosen: (item: Item) => boolean
  readonly toggle: (item: Item) => void
}

function columns(input: ColumnsInput): readonly Column<Item>[] {
  const { shape, items, onOpen } = input
  const keys = keyNames(shape)
  return columnNames(shape, items.value ?? [])
    .slice(0, MAX_COLUMNS)
    .map((name, at): Column<Item> => {
      const about = { key: name, header: name, isWideOnly: at >= NARROW_COLUMNS }
      if (at === 0)
        return { ...about, cell: (item) => <FirstCell name={name} item={item} {...input} /> }
      if (keys.includes(name)) return { ...about, cell: (item) => shownValue(item[name]) }
      return {
        ...about,
        cell: (item) => (
          <button
            class="cell-button"
            type="button"
            title={t('item.edit-cell', { name })}
            onClick={() => onOpen({ kind: 'cell', item, name })}
          >
            {item[name] === undefined ? <span class="faint">—</span> : shownValue(item[name])}
          </button>
        ),
      }
    })
}

interface FirstCellProps extends ColumnsInput {
  readonly name: string
  readonly item: Item
}

const FirstCell = ({ name, item, isChosen, toggle, onOpen }: FirstCellProps): JSX.Element => (
  <span class="first-cell">
    <input
      type="checkbox"
      aria-label={t('select.one', { name: shownValue(item[name]) })}
      checked={isChosen(item)}
      onChange={() => toggle(item)}
    />
    <button
      class="cell-button row-link"
      type="button"
      title={t('item.edit')}
      onClick={() => onOpen({ kind: 'edit', item })}
    >
      {shownValue(item[name])}
    </button>
  </span>
)

function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? value || '""' : writeExact(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

interface RowMenuProps {
  readonly item: Item
  readonly onOpen: (open: OpenItem) => void
  readonly onDelete: () => void
}

const RowMenu = ({ item, onOpen, onDelete }: RowMenuProps): JSX.Element => (
  <Menu
    label={t('item.actions')}
    items={[
      { label: t('item.edit'), icon: 'edit', onSelect: () => onOpen({ kind: 'edit', item }) },
      { label: t('item.duplicate'), icon: 'add', onSelect: () => onOpen({ kind: 'add', item }) },
      {
        label: t('item.copy'),
        icon: 'copy',
        onSelect: async () => copyText(writeItem(item, { isPretty: true })),
      },
      { label: t('item.delete'), icon: 'trash', isDanger: true, onSelect: onDelete },
    ]}
  >
    <Icon name="more" />
  </Menu>
)
