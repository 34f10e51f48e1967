import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'

import { api } from '#app/api/api.ts'
import { type ItemOf, invalidate, useGet, useList } from '#app/api/resources.ts'
import { Button, IconButton } from '#app/components/button.tsx'
import { ConfirmByTyping } from '#app/components/confirm-by-typing.tsx'
import { EmptyState } from '#app/components/empty-state.tsx'
import { Page, Section } from '#app/components/page.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { toast, toastProblem } from '#app/components/toasts.tsx'
import { SchemaForm } from '#app/forms/schema-form.tsx'
import { navigate } from '#app/router/router.ts'
import type { ScreenProps } from '#app/screens.ts'
import { currentSession } from '#app/session/current-session.ts'

import { mailPath } from './folders.ts'
import { sizeText } from './mail-time.ts'
import { ForwardingSection } from './mailbox-forwarding.tsx'
import { PasswordsSection } from './mailbox-passwords.tsx'
import { setupText as t } from './setup-texts.ts'

type Mailbox = ItemOf<'/admin/api/mailboxes'>

const LIST = '/admin/api/mailboxes'
const SETTINGS = '/admin/api/mailboxes/{address}/settings'

/** A mailbox with all that can be set of it. */
export function MailboxScreen({ params }: ScreenProps): JSX.Element {
  const { address = '' } = params
  const mailboxes = useList(LIST, { query: { limit: '100' } })
  const mailbox = mailboxes.value?.find((one) => one.address === address)
  const isMissing = mailbox === undefined && mailboxes.hasMore
  useEffect(() => {
    if (isMissing) void mailboxes.loadMore()
  }, [isMissing, mailboxes.value])
  return (
    <Page
      title={address}
      parent={{ href: '/mailboxes', label: t('mailboxes.title') }}
      call={{
        method: 'GET',
        path: SETTINGS,
        params: { address },
        command: `croft mailbox show ${address}`,
      }}
      actions={
        <Button icon="mail" href={mailPath({ mailbox: address, folder: 'INBOX' })}>
          {t('mailbox.read')}
        </Button>
      }
    >
      <ProblemNote problem={mailboxes.problem} onRetry={mailboxes.reload} />
      {mailbox === undefined ? (
        mailboxes.value === undefined || mailboxes.hasMore ? (
          mailboxes.problem === undefined && <Skeleton lines={8} />
        ) : (
          <EmptyState icon="mailbox" title={t('mailbox.missing')}>
            {t('mailbox.missing-lead')}
          </EmptyState>
        )
      ) : (
        <>
          <OwnersSection mailbox={mailbox} />
          <SettingsSection address={address} />
          {mailbox.status === 'ACTIVE' && (
            <>
              <ForwardingSection address={address} />
              <PasswordsSection address={address} />
            </>
          )}
          <EndSection mailbox={mailbox} />
        </>
      )}
    </Page>
  )
}

interface MailboxProps {
  readonly mailbox: Mailbox
}

function OwnersSection({ mailbox: { address, owners, status } }: MailboxProps): JSX.Element {
  const users = useList('/admin/api/users', { query: { limit: '100' } })
  const others = users.value?.filter(({ userId }) => !owners.includes(userId)) ?? []
  const path = '/admin/api/mailboxes/{address}/owners'
  const change = async (call: () => Promise<unknown>) => {
    try {
      await call()
    } catch (error) {
      toastProblem(error)
    }
    invalidate(LIST)
  }
  const add = async (userId: string) =>
    change(async () => api.post(path, { params: { address }, body: { owners: [userId] } }))
  const remove = async (userId: string) =>
    change(async () => api.delete(path, { params: { address }, body: { owners: [userId] } }))
  return (
    <Section title={t('mailboxes.owners')} lead={t('mailbox.owners-lead')}>
      <ul class="files">
        {owners.map((id) => {
          const email = users.value?.find(({ userId }) => userId === id)?.email ?? id
          return (
            <li key={id} class="file">
              <span class="file-name">{email}</span>
              {owners.length > 1 && status === 'ACTIVE' && (
                <IconButton
                  icon="close"
                  label={`${t('setup.remove')}: ${email}`}
                  onClick={async () => remove(id)}
                />
              )}
            </li>
          )
        })}
      </ul>
      {others.length > 0 && status === 'ACTIVE' && (
        <select
          class="input after-list"
          aria-label={t('mailbox.add-owner')}
          value=""
          onChange={({ currentTarget: { value } }) => void add(value)}
        >
          <option value="">{t('mailbox.add-owner')} …</option>
          {others.map(({ userId, email }) => (
            <option key={userId} value={userId}>
              {email}
            </option>
          ))}
        </select>
      )}
    </Section>
  )
}

function SettingsSection({ address }: { readonly address: string }): JSX.Element {
  const { value, problem, reload } = useGet(SETTINGS, { params: { address } })
  const isSuper = currentSession().account.value?.role === 'super-admin'
  return (
    <Section
      title={t('mailbox.settings')}
      lead={
        value &&
        t('mailbox.usage', { size: sizeText(value.usage.bytes), count: value.usage.messages })
      }
    >
      <ProblemNote problem={problem} onRetry={reload} />
      {value === undefined ? (
        problem === undefined && <Skeleton />
      ) : isSuper ? (
        <SchemaForm
          method="put"
          path={SETTINGS}
          value={value}
          action={t('setup.save')}
          labels={{
            trashAutoPurge: t('mailbox.auto-purge'),
            trashRetentionDays: t('mailbox.retention'),
            quotaBytes: t('mailbox.quota-bytes'),
            quotaMessages: t('mailbox.quota-messages'),
          }}
          submit={async (body) => {
            await api.put(SETTINGS, { params: { address }, body })
            invalidate(SETTINGS)
            toast(t('setup.saved'))
          }}
        />
      ) : (
        <p class="faint small">{t('mailbox.settings-role')}</p>
      )}
    </Section>
  )
}

function EndSection({ mailbox: { address, status } }: MailboxProps): JSX.Element {
  const isPurging = useSignal(false)
  const isSuper = currentSession().account.value?.role === 'super-admin'
  const params = { address }
  const change = async (text: string, call: () => Promise<unknown>) => {
    try {
      await call()
      toast(text)
    } catch (error) {
      toastProblem(error)
    }
    invalidate(LIST)
  }
  const disable = async () =>
    change(t('mailbox.disabled', { address }), async () =>
      api.delete('/admin/api/mailboxes/{address}', { params }),
    )
  const restore = async () =>
    change(t('mailbox.restored', { address }), async () =>
      api.post('/admin/api/mailboxes/{address}/restore', { params }),
    )
  return (
    <Section
      title={t(status === 'ACTIVE' ? 'mailbox.disable' : 'mailbox.is-disabled')}
      lead={t(status === 'ACTIVE' ? 'mailbox.disable-lead' : 'mailbox.is-disabled-lead')}
    >
      <p class="toolbar">
        {status === 'ACTIVE' ? (
          <Button onClick={disable}>{t('mailbox.disable')}</Button>
        ) : (
          <Button icon="history" onClick={restore}>
            {t('mailbox.restore')}
          </Button>
        )}
        {status === 'DISABLED' && isSuper && (
          <Button look="danger" icon="trash" onClick={() => (isPurging.value = true)}>
            {t('mailbox.purge')}
          </Button>
        )}
      </p>
      {isPurging.value && (
        <PurgeDialog address={address} onClose={() => (isPurging.value = false)} />
      )}
    </Section>
  )
}

interface PurgeDialogProps {
  readonly address: string
  readonly onClose: () => void
}

const PurgeDialog = ({ address, onClose }: PurgeDialogProps): JSX.Element => (
  <ConfirmByTyping
    title={t('mailbox.purge')}
    name={address}
    action={t('mailbox.purge')}
    onClose={onClose}
    onConfirm={async () => {
      const call = { params: { address }, body: { confirm: true } }
      await api.post('/admin/api/mailboxes/{address}/purge', call)
      invalidate(LIST)
      navigate('/mailboxes')
    }}
  >
    <p>{t('mailbox.purge-lead')}</p>
  </ConfirmByTyping>
)
