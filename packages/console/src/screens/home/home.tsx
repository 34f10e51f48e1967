import type { JSX } from 'preact'

import { Page } from '#app/components/page.tsx'
import { currentConfig } from '#app/current-config.ts'
import { currentQuery } from '#app/router/router.ts'
import { currentSession } from '#app/session/current-session.ts'

import { SiteFacts } from './site-facts.tsx'
import { t } from './texts.ts'
import { ToDo } from './to-do.tsx'
import { PERIODS, type PeriodName } from './usage-series.ts'
import { Usage } from './usage.tsx'

/** Whether all is well: what needs a person, what happened, and what the site is. */
export function Home(): JSX.Element {
  const { domain } = currentConfig()
  const isAdmin = currentSession().account.value?.role !== 'user'
  const asked = currentQuery.value.get('period') ?? ''
  const period: PeriodName = asked in PERIODS ? (asked as PeriodName) : '24h'
  return (
    <Page
      title={domain}
      lead={isAdmin ? t('lead') : t('lead-user')}
      {...(isAdmin && {
        call: {
          method: 'GET',
          path: '/admin/data/usage',
          command: `croft site show ${domain}`,
        },
      })}
    >
      {isAdmin && (
        <>
          <ToDo />
          <Usage name={period} />
        </>
      )}
      <SiteFacts isAdmin={isAdmin} period={period} />
    </Page>
  )
}
