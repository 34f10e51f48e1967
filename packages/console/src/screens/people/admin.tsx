import type { JSX } from 'preact'

import { useGet } from '#app/api/resources.ts'
import { Page } from '#app/components/page.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import type { ScreenProps } from '#app/screens.ts'
import { t as shell } from '#app/texts/shell.ts'

import { t } from './texts.ts'

export function Admin({ params }: ScreenProps): JSX.Element {
  const { userId = '' } = params
  const admin = useGet('/admin/api/users/{userId}', { params: { userId } })
  return (
    <Page
      title={admin.value?.email ?? shell('screen.admin')}
      lead={t('admin.lead')}
      parent={{ href: '/people/admins', label: t('admins.title') }}
      call={{ method: 'GET', path: '/admin/api/users/{userId}', params: { userId } }}
    >
      <ProblemNote problem={admin.problem} onRetry={admin.reload} />
      {admin.value === undefined ? (
        <Skeleton />
      ) : (
        <dl class="facts card">
          <dt>{t('admins.role')}</dt>
          <dd>{shell(`role.${admin.value.role}`)}</dd>
          <dt>{t('admins.status')}</dt>
          <dd>{t(`status.${admin.value.status}`)}</dd>
        </dl>
      )}
    </Page>
  )
}
