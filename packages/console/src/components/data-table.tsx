import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import type { ListResource } from '#app/api/resources.ts'
import { t } from '#app/texts/shell.ts'

import { Button } from './button.tsx'
import { ProblemNote } from './problem-note.tsx'
import { type RowWindow, windowOf } from './row-window.ts'
import { Skeleton } from './skeleton.tsx'

export interface Column<Row> {
  /** Unique among the columns. */
  readonly key: string
  /** On a narrow screen it stands before the value. */
  readonly header: string
  readonly cell: (row: Row) => ComponentChildren
  readonly align?: 'end'
  /** Left out on a narrow screen. */
  readonly isWideOnly?: boolean
}

export interface DataTableProps<Row> {
  /** What the rows are: `Admins`. */
  readonly label: string
  readonly list: ListResource<Row>
  /** The first names the row: on a narrow screen it is the heading of a card. */
  readonly columns: readonly Column<Row>[]
  readonly rowKey: (row: Row) => string
  /** The screen of a row. The first cell becomes a link to it. */
  readonly rowHref?: (row: Row) => string
  /** At the end of each row: a menu, mostly. */
  readonly rowActions?: (row: Row) => ComponentChildren
  /** Shown in place of a table without rows. */
  readonly empty: ComponentChildren
}

/** A list of the API: a table, cards on a narrow screen. Only the rows near the window are in the page. */
export function DataTable<Row>(props: DataTableProps<Row>): JSX.Element {
  const { list, empty } = props
  if (list.value === undefined) {
    return list.problem ? (
      <ProblemNote problem={list.problem} onRetry={list.reload} />
    ) : (
      <Skeleton lines={6} />
    )
  }
  return (
    <>
      <ProblemNote problem={list.problem} onRetry={list.reload} />
      {list.value.length === 0 ? empty : <Rows {...props} rows={list.value} />}
      {list.hasMore && (
        <div class="load-more">
          <Button onClick={list.loadMore} isBusy={list.isLoadingMore}>
            {t('list.more')}
          </Button>
        </div>
      )}
    </>
  )
}

interface RowsProps<Row> extends DataTableProps<Row> {
  readonly rows: readonly Row[]
}

function Rows<Row>(props: RowsProps<Row>): JSX.Element {
  const { label, list, columns, rows, rowKey, rowActions } = props
  const body = useRef<HTMLTableSectionElement>(null)
  const shown = useRowWindow(body, rows.length)
  const width = columns.length + (rowActions ? 1 : 0)
  return (
    <div class="table-frame" aria-busy={list.isLoading}>
      <table class="table" aria-label={label} aria-rowcount={list.hasMore ? -1 : rows.length + 1}>
        <thead>
          <tr>
            {columns.map(({ key, header, align, isWideOnly }) => (
              <th key={key} scope="col" class={cellClass(align, isWideOnly)}>
                {header}
              </th>
            ))}
            {rowActions && (
              <th scope="col" class="table-actions">
                <span class="visually-hidden">{t('list.actions')}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={moveBetweenRows}>
          <Spacer height={shown.before} width={width} />
          {rows.slice(shown.from, shown.to).map((row, index) => (
            <TableRow key={rowKey(row)} {...props} row={row} index={shown.from + index} />
          ))}
          <Spacer height={shown.after} width={width} />
        </tbody>
      </table>
    </div>
  )
}

interface TableRowProps<Row> extends RowsProps<Row> {
  readonly row: Row
  readonly index: number
}

function TableRow<Row>({
  columns,
  row,
  rowHref,
  rowActions,
  index,
}: TableRowProps<Row>): JSX.Element {
  return (
    <tr class="table-row" aria-rowindex={index + 2}>
      {columns.map(({ key, header, cell, align, isWideOnly }, at) => (
        <td
          key={key}
          data-label={at === 0 ? undefined : header}
          class={cellClass(align, isWideOnly)}
        >
          {at === 0 && rowHref ? (
            <a class="row-link" href={rowHref(row)}>
              {cell(row)}
            </a>
          ) : (
            cell(row)
          )}
        </td>
      ))}
      {rowActions && <td class="table-actions">{rowActions(row)}</td>}
    </tr>
  )
}

const cellClass = (align: 'end' | undefined, isWideOnly: boolean | undefined): string =>
  [align === 'end' ? 'align-end' : '', isWideOnly ? 'wide-only' : ''].join(' ').trim()

/** Holds the place of rows that are not in the page. */
function Spacer({
  height,
  width,
}: {
  readonly height: number
  readonly width: number
}): JSX.Element | null {
  const ref = useRef<HTMLTableCellElement>(null)
  useEffect(() => {
    if (ref.current) ref.current.style.height = `${height}px`
  }, [height])
  if (height === 0) return null
  return (
    <tr class="table-spacer" aria-hidden="true">
      <td ref={ref} colSpan={width} />
    </tr>
  )
}

/** The rows to render, which changes as the page is scrolled. */
function useRowWindow(
  body: { readonly current: HTMLTableSectionElement | null },
  count: number,
): RowWindow {
  const shown = useSignal<RowWindow>(windowOf({ count, rowHeight: 44, top: 0, height: 900 }))
  useEffect(() => {
    const measure = () => {
      const element = body.current
      if (element === null) return
      const row = element.querySelector<HTMLElement>('.table-row')
      const next = windowOf({
        count,
        rowHeight: row?.offsetHeight ?? 44,
        top: -element.getBoundingClientRect().top,
        height: innerHeight,
      })
      if (next.from !== shown.peek().from || next.to !== shown.peek().to) shown.value = next
    }
    measure()
    addEventListener('scroll', measure, { passive: true, capture: true })
    addEventListener('resize', measure)
    return () => {
      removeEventListener('scroll', measure, { capture: true })
      removeEventListener('resize', measure)
    }
  }, [count])
  return shown.value
}

/** Arrows go from the link of a row to that of the next. */
function moveBetweenRows(event: KeyboardEvent): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  const { target } = event
  if (step === 0 || !(target instanceof HTMLElement) || !target.matches('.row-link')) return
  event.preventDefault()
  const links = [...(target.closest('tbody')?.querySelectorAll<HTMLElement>('.row-link') ?? [])]
  links[links.indexOf(target) + step]?.focus()
}
