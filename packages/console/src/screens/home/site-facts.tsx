import type { ComponentChildren, JSX } from 'preact'

import { useGet } from '#app/api/resources.ts'
import { Badge } from '#app/components/badge.tsx'
import { Section } from '#app/components/page.tsx'
import { Time } from '#app/components/time.tsx'
import { currentConfig } from '#app/current-config.ts'
import { currentSession } from '#app/session/current-session.ts'
import { t as shell } from '#app/texts/shell.ts'

import { t } from './texts.ts'
import type { PeriodName } from './usage-series.ts'
import { useUsage } from './use-usage.ts'

interface SiteFactsProps {
  readonly isAdmin: boolean
  /** Whose usage the page shows. */
  readonly period: PeriodName
}

/** What the site is, and who the reader is in it. */
export function SiteFacts({ isAdmin, period }: SiteFactsProps): JSX.Element {
  const { domain, version } = currentConfig()
  const account = currentSession().account.value
  return (
    <Section title={t('facts')}>
      <dl class="facts">
        <dt>{t('facts.domain')}</dt>
        <dd>
          <a href={`${location.protocol}//${domain}${location.port && `:${location.port}`}/`}>
            {domain}
          </a>
        </dd>
        <dt>{t('facts.account')}</dt>
        <dd>
          {account?.email} · {shell(`role.${account?.role ?? 'user'}`)}
        </dd>
        {isAdmin && <Published period={period} />}
        <dt>{t('facts.version')}</dt>
        <dd>{version}</dd>
      </dl>
    </Section>
  )
}

/** The state of what is published, as far as an admin can read it. */
function Published({ period }: Pick<SiteFactsProps, 'period'>): JSX.Element {
  const { usage } = useUsage(period)
  const definitions = useGet('/admin/data/iac/jobs', { query: { limit: '1' } })
  const latest = definitions.value?.items[0]
  const runtime = usage.value?.runtime
  return (
    <>
      {runtime && (
        <Fact name={t('facts.runtime')}>
          <Badge tone={runtime.sandboxReady ? 'good' : 'warning'}>
            {runtime.sandboxReady ? t('facts.ready') : t('facts.not-ready')}
          </Badge>{' '}
          {runtime.loadedRevision !== null && (
            <span class="faint">
              {t('facts.revision', { number: String(runtime.loadedRevision) })}
            </span>
          )}
        </Fact>
      )}
      {latest && (
        <Fact name={t('facts.definition')}>
          <Badge
            tone={
              latest.status === 'succeeded'
                ? 'good'
                : latest.status === 'failed'
                  ? 'bad'
                  : 'neutral'
            }
          >
            {latest.status}
          </Badge>{' '}
          <Time at={latest.createdAt} />
        </Fact>
      )}
    </>
  )
}

const Fact = ({
  name,
  children,
}: {
  readonly name: string
  readonly children: ComponentChildren
}): JSX.Element => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)
