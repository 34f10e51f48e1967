import type { JSX } from 'preact'

import { api } from '#app/api/api.ts'
import { invalidate, updateList, useList } from '#app/api/resources.ts'
import { Button } from '#app/components/button.tsx'
import { DataTable } from '#app/components/data-table.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { Page } from '#app/components/page.tsx'
import { Time } from '#app/components/time.tsx'
import { undoable } from '#app/components/toasts.tsx'

import { setupText as t } from './setup-texts.ts'
import { siteDomain } from './site-domain.ts'

const LIST = '/admin/api/mail-suppressions'

/** Addresses that the site sends nothing to, and why. */
export function Suppressions(): JSX.Element {
  const suppressions = useList(LIST, { query: { limit: '100' } })
  return (
    <Page
      title={t('suppressions.title')}
      lead={t('suppressions.lead')}
      call={{ method: 'GET', path: LIST, command: `croft mail suppressions ${siteDomain()}` }}
    >
      <DataTable
        label={t('suppressions.title')}
        list={suppressions}
        columns={[
          { key: 'address', header: t('aliases.address'), cell: ({ address }) => address },
          {
            key: 'reason',
            header: t('suppressions.reason'),
            cell: ({ detail }) => <span title={detail}>{detail}</span>,
          },
          {
            key: 'since',
            header: t('contact.since'),
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
          {
            key: 'again',
            header: '',
            align: 'end',
            cell: ({ address }) => (
              <Button onClick={() => sendAgain(address)}>{t('suppressions.again')}</Button>
            ),
          },
        ]}
        rowKey={({ address }) => address}
        empty={
          <EmptyState icon="check" title={t('suppressions.none')}>
            {t('suppressions.none-lead')}
          </EmptyState>
        }
      />
    </Page>
  )
}

function sendAgain(address: string): void {
  updateList(LIST, (items) => items.filter((suppressed) => suppressed.address !== address))
  undoable({
    text: t('suppressions.removed', { address }),
    onUndo: () => invalidate(LIST),
    run: async () => {
      await api.delete('/admin/api/mail-suppressions/{address}', { params: { address } })
      invalidate(LIST)
    },
  })
}
