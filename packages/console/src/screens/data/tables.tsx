import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'

import { type ShownCall, curlOf } from '#app/api/call-text.ts'
import { Button } from '#app/components/button.tsx'
import { type Column, DataTable } from '#app/components/data-table.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { Page } from '#app/components/page.tsx'
import { Time } from '#app/components/time.tsx'
import { pathTo } from '#app/router/route-match.ts'

import { CreateTable } from './create-table.tsx'
import { KeyNames } from './key-names.tsx'
import { tableShape } from './table-shape.ts'
import { t } from './texts.ts'
import { type ResourceRow, useResourceList } from './use-resource-list.ts'

const EXAMPLE: ShownCall = {
  method: 'POST',
  path: '/admin/data/resources',
  body: {
    type: 'ddbTable',
    name: 'orders',
    config: { partitionKey: { name: 'buyer', type: 'S' }, sortKey: { name: 'at', type: 'N' } },
  },
}

/** Every table of the site, with its keys and indexes. */
export function Tables(): JSX.Element {
  const tables = useResourceList('ddbTable')
  const isCreating = useSignal(false)
  const create = (
    <Button look="primary" icon="add" onClick={() => (isCreating.value = true)}>
      {t('tables.create')}
    </Button>
  )
  const isEmpty = tables.value?.length === 0
  return (
    <Page
      title={t('tables.title')}
      lead={t('tables.lead')}
      call={{ method: 'GET', path: '/admin/data/resources' }}
      actions={!isEmpty && create}
    >
      <DataTable
        label={t('tables.title')}
        list={tables}
        columns={columns()}
        rowKey={({ resourceId }) => resourceId}
        rowHref={({ resourceId }) => pathTo('/tables/{resourceId}', { resourceId })}
        empty={
          <EmptyState
            icon="table"
            title={t('tables.none')}
            action={create}
            command={curlOf(EXAMPLE, location.origin)}
          >
            {t('tables.none-lead')}
          </EmptyState>
        }
      />
      {isCreating.value && <CreateTable onClose={() => (isCreating.value = false)} />}
    </Page>
  )
}

const columns = (): readonly Column<ResourceRow>[] => [
  { key: 'name', header: t('resource.name'), cell: ({ name }) => name },
  {
    key: 'key',
    header: t('table.key'),
    cell: ({ config }) => <KeyNames schema={tableShape(config)} />,
  },
  {
    key: 'indexes',
    header: t('table.indexes'),
    cell: ({ config }) =>
      tableShape(config)
        .indexes.map(({ indexName }) => indexName)
        .join(', ') || '—',
  },
  {
    key: 'created',
    header: t('resource.created'),
    cell: ({ createdAt }) => <Time at={createdAt} />,
    isWideOnly: true,
  },
]
