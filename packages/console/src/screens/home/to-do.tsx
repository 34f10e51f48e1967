import type { JSX } from 'preact'

import { useGet, useList } from '#app/api/resources.ts'
import { Icon, type IconName } from '#app/components/icon.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { screenAt } from '#app/router/screen-at.ts'

import { t } from './texts.ts'

interface Matter {
  readonly icon: IconName
  readonly tone: 'warning' | 'bad'
  readonly text: string
  readonly href: string
}

type Kind = Omit<Matter, 'text'> & { readonly text: Parameters<typeof t>[0] }

const DEFINITION: Kind = {
  icon: 'deployment',
  tone: 'bad',
  text: 'to-do.definition',
  href: '/deployments',
}
const JOBS: Kind = { icon: 'job', tone: 'bad', text: 'to-do.jobs', href: '/jobs' }
const SUPPRESSED: Kind = {
  icon: 'mail',
  tone: 'warning',
  text: 'to-do.suppressed',
  href: '/mail/outbox',
}
const INVITED: Kind = {
  icon: 'people',
  tone: 'warning',
  text: 'to-do.invited',
  href: '/people/admins',
}

/** What waits for a person: invites, jobs that fail, addresses that take no mail, a definition that was not applied. */
export function ToDo(): JSX.Element {
  const admins = useList('/admin/api/users', { query: { limit: '100' } })
  const jobs = useList('/admin/data/jobs', { query: { limit: '100' } })
  const suppressions = useList('/admin/api/mail-suppressions', { query: { limit: '100' } })
  const definitions = useGet('/admin/data/iac/jobs', { query: { limit: '1' } })
  const lists = [admins, jobs, suppressions, definitions]
  if (lists.some(({ value, problem }) => value === undefined && problem === undefined)) {
    return <Skeleton lines={2} />
  }
  const isFailed = definitions.value?.items[0]?.status === 'failed'
  const matters = [
    matter(isFailed ? 1 : 0, DEFINITION),
    matter(
      countOf(jobs.value, (job) => job.lastRun?.status === 'failed'),
      JOBS,
    ),
    matter(suppressions.value?.length ?? 0, SUPPRESSED),
    matter(
      countOf(admins.value, ({ status }) => status === 'INVITED'),
      INVITED,
    ),
  ]
  const shown = matters.filter((one) => one !== undefined)
  return (
    <section class="to-do" aria-label={t('to-do.title')}>
      {shown.length === 0 ? (
        <p>
          <Icon name="check" class="good" />
          {t('to-do.none')}
        </p>
      ) : (
        shown.map((one) => <Entry key={one.text} {...one} />)
      )}
    </section>
  )
}

const matter = (count: number, { text, ...rest }: Kind): Matter | undefined =>
  count === 0 ? undefined : { ...rest, text: t(text, { count }) }

const countOf = <Item,>(
  items: readonly Item[] | undefined,
  counts: (item: Item) => boolean,
): number => items?.filter((item) => counts(item)).length ?? 0

function Entry({ icon, tone, text, href }: Matter): JSX.Element {
  const content = (
    <>
      <Icon name={icon} class={tone} />
      <span>{text}</span>
    </>
  )
  return screenAt(href) === undefined ? <p>{content}</p> : <a href={href}>{content}</a>
}
