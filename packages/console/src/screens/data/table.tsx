import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'

import { api } from '#app/api/api.ts'
import type { ShownCall } from '#app/api/call-text.ts'
import { useGet } from '#app/api/resources.ts'
import { Button } from '#app/components/button.tsx'
import { ConfirmByTyping } from '#app/components/confirm-by-typing.tsx'
import { Icon } from '#app/components/icon.tsx'
import { Menu } from '#app/components/menu.tsx'
import { Page } from '#app/components/page.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { toast } from '#app/components/toasts.tsx'
import { currentQuery, navigate } from '#app/router/router.ts'
import type { ScreenProps } from '#app/screens.ts'
import { t as shell } from '#app/texts/shell.ts'

import type { Item } from './exact-json.ts'
import { ExportNote, type Exporting, useExport } from './export-items.tsx'
import { ItemDialog, type OpenItem } from './item-dialog.tsx'
import { ItemTable } from './item-table.tsx'
import { KeyNames } from './key-names.tsx'
import { ReadForm } from './read-form.tsx'
import { type ReadRequest, ValueFault, readRequest, readStateOf } from './read-request.ts'
import { type TableShape, keyText, tableShape } from './table-shape.ts'
import { t } from './texts.ts'
import { type ItemList, useItems } from './use-items.ts'

const NEW_ITEM: OpenItem = { kind: 'add', item: undefined }

/** The items of a table, and all that can be done with them. */
export function Table({ params }: ScreenProps): JSX.Element {
  const { resourceId = '' } = params
  const resource = useGet('/admin/data/resources/{resourceId}', { params: { resourceId } })
  if (resource.value !== undefined && resource.value.resourceId === resourceId) {
    const { name, config } = resource.value
    return <LoadedTable resourceId={resourceId} name={name} config={config} />
  }
  return (
    <Page
      title={shell('screen.table')}
      parent={{ href: '/tables', label: t('tables.title') }}
      call={{ method: 'GET', path: '/admin/data/resources/{resourceId}', params: { resourceId } }}
    >
      <ProblemNote problem={resource.problem} onRetry={resource.reload} />
      {resource.problem === undefined && <Skeleton lines={6} />}
    </Page>
  )
}

interface LoadedProps {
  readonly resourceId: string
  readonly name: string
  readonly config: unknown
}

function LoadedTable({ resourceId, name, config }: LoadedProps): JSX.Element {
  const shape = useMemo(() => tableShape(config), [config])
  const query = currentQuery.value.toString()
  const state = useMemo(() => readStateOf(new URLSearchParams(query)), [query])
  const request = useMemo(() => requestOf(() => readRequest(state, shape)), [state, shape])
  const items = useItems(resourceId, request)
  const exporting = useExport(resourceId, name, shape)
  const open = useSignal<OpenItem | undefined>(undefined)
  const isDeleting = useSignal(false)
  return (
    <Page
      title={name}
      lead={<Keys shape={shape} />}
      parent={{ href: '/tables', label: t('tables.title') }}
      call={callOf(resourceId, request)}
      actions={
        <>
          <TableMenu
            request={request}
            exporting={exporting}
            onDelete={() => (isDeleting.value = true)}
          />
          <Button look="primary" icon="add" onClick={() => (open.value = NEW_ITEM)}>
            {t('item.add')}
          </Button>
        </>
      }
    >
      <ReadForm key={query} shape={shape} state={state} request={request} />
      <ExportNote exporting={exporting} />
      {request !== undefined && (
        <ItemTable
          resourceId={resourceId}
          shape={shape}
          items={items}
          isFiltered={query !== ''}
          onOpen={(opened) => (open.value = opened)}
        />
      )}
      {open.value && (
        <ItemDialog
          resourceId={resourceId}
          shape={shape}
          open={open.value}
          onClose={() => (open.value = undefined)}
          onSaved={(item) => showSaved(shape, items, item)}
          onGone={() => void items.reload()}
        />
      )}
      {isDeleting.value && (
        <DeleteTable
          resourceId={resourceId}
          name={name}
          onClose={() => (isDeleting.value = false)}
        />
      )}
    </Page>
  )
}

/** Shows an item as it is saved; one that was not on show may be anywhere. */
function showSaved(shape: TableShape, items: ItemList, saved: Item): void {
  const key = keyText(shape, saved)
  const isSaved = (item: Item) => keyText(shape, item) === key
  if (items.value?.some(isSaved)) {
    items.change((shown) => shown.map((item) => (isSaved(item) ? saved : item)))
  } else void items.reload()
}

interface TableMenuProps {
  readonly request: ReadRequest | undefined
  readonly exporting: Exporting
  readonly onDelete: () => void
}

function TableMenu({ request, exporting, onDelete }: TableMenuProps): JSX.Element {
  const exports =
    request === undefined
      ? []
      : (['json', 'csv'] as const).map((format) => ({
          label: t(`export.${format}`),
          icon: 'download' as const,
          onSelect: () => exporting.start(format, request),
        }))
  return (
    <Menu
      label={t('table.more')}
      items={[
        ...exports,
        { label: t('table.delete'), icon: 'trash', isDanger: true, onSelect: onDelete },
      ]}
    >
      <Icon name="more" />
    </Menu>
  )
}

const callOf = (resourceId: string, request: ReadRequest | undefined): ShownCall => ({
  method: 'POST',
  path: `/admin/data/resources/{resourceId}/data/ddb/${request?.action ?? 'scan'}`,
  params: { resourceId },
  body: request?.body ?? {},
})

/** Undefined where the address asks for a query without its values. */
function requestOf(make: () => ReadRequest): ReadRequest | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof ValueFault) return undefined
    throw error
  }
}

const Keys = ({ shape }: { readonly shape: TableShape }): JSX.Element => (
  <span class="table-keys">
    <KeyNames schema={shape} />
    {shape.indexes.map((index) => (
      <span key={index.indexName}>
        {t('table.index', { name: index.indexName })} <KeyNames schema={index} />
      </span>
    ))}
    {shape.ttlAttribute !== undefined && (
      <span>
        {t('table.ttl')} <code>{shape.ttlAttribute}</code>
      </span>
    )}
  </span>
)

interface DeleteProps {
  readonly resourceId: string
  readonly name: string
  readonly onClose: () => void
}

const DeleteTable = ({ resourceId, name, onClose }: DeleteProps): JSX.Element => (
  <ConfirmByTyping
    title={t('table.delete')}
    name={name}
    action={t('table.delete')}
    onClose={onClose}
    onConfirm={async () => {
      await api.delete('/admin/data/resources/{resourceId}', {
        params: { resourceId },
        body: { confirm: true },
      })
      toast(t('resource.deleted', { name }))
      navigate('/tables')
    }}
  >
    <p>{t('table.delete-lead')}</p>
  </ConfirmByTyping>
)
