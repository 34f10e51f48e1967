import type { JSX } from 'preact'

import { useGet } from '#app/api/resources.ts'
import { Page } from '#app/components/page.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'

import { t } from './texts.ts'

export function Home(): JSX.Element {
  const usage = useGet('/admin/data/usage')
  const totals = usage.value?.totals
  return (
    <Page
      title={t('title')}
      lead={t('lead', { domain: location.host })}
      call={{ method: 'GET', path: '/admin/data/usage' }}
    >
      <ProblemNote problem={usage.problem} onRetry={usage.reload} />
      {totals === undefined ? (
        <Skeleton />
      ) : (
        <div class="figures">
          <Figure label={t('calls')} value={totals.calls} />
          <Figure label={t('errors')} value={totals.errors} />
          <Figure label={t('cpu')} value={totals.cpuMs} />
        </div>
      )}
    </Page>
  )
}

const Figure = ({
  label,
  value,
}: {
  readonly label: string
  readonly value: number
}): JSX.Element => (
  <div class="figure">
    <span class="faint">{label}</span>
    <span class="figure-value">{value}</span>
  </div>
)
