import type { JSX } from 'preact'

import { api } from '#app/api/api.ts'
import { invalidate, useGet } from '#app/api/resources.ts'
import { Badge } from '#app/components/badge.tsx'
import { IconButton } from '#app/components/button.tsx'
import { Section } from '#app/components/page.tsx'
import { ProblemNote } from '#app/components/problem-note.tsx'
import { Skeleton } from '#app/components/skeleton.tsx'
import { toast, toastProblem } from '#app/components/toasts.tsx'
import { SwitchField, TextField } from '#app/forms/fields.tsx'
import { Form, useForm } from '#app/forms/form.tsx'

import { atFields } from './compose-errors.ts'
import { splitAddresses } from './mail-names.ts'
import { setupText as t } from './setup-texts.ts'

const FORWARDING = '/admin/api/mailboxes/{address}/forwarding'
const TARGETS = '/admin/api/mailboxes/{address}/forwarding-targets'

interface Target {
  readonly target: string
  readonly status: 'PENDING' | 'VERIFIED'
}

export interface MailboxSectionProps {
  readonly address: string
}

/** Whether a mailbox forwards its mail, and where to. */
export function ForwardingSection({ address }: MailboxSectionProps): JSX.Element {
  const { value, problem, reload } = useGet(FORWARDING, { params: { address } })
  return (
    <Section title={t('forwarding.title')} lead={t('forwarding.lead')}>
      <ProblemNote problem={problem} onRetry={reload} />
      {value === undefined ? (
        problem === undefined && <Skeleton />
      ) : (
        <div class="form">
          <Targets address={address} targets={value.targets} />
          <AddTargets address={address} />
          <Settings
            key={`${value.enabled} ${value.keepCopy}`}
            address={address}
            enabled={value.enabled}
            keepCopy={value.keepCopy}
          />
        </div>
      )}
    </Section>
  )
}

interface TargetsProps extends MailboxSectionProps {
  readonly targets: readonly Target[]
}

function Targets({ address, targets }: TargetsProps): JSX.Element | null {
  if (targets.length === 0) return null
  const remove = async (target: string) => {
    try {
      await api.delete(TARGETS, { params: { address }, body: { targets: [target] } })
    } catch (error) {
      toastProblem(error)
    }
    invalidate(FORWARDING)
  }
  return (
    <ul class="files">
      {targets.map(({ target, status }) => (
        <li key={target} class="file">
          <span class="file-name">{target}</span>
          <Badge tone={status === 'VERIFIED' ? 'good' : 'warning'}>
            {t(`forwarding.${status}`)}
          </Badge>
          <IconButton
            icon="close"
            label={`${t('setup.remove')}: ${target}`}
            onClick={async () => remove(target)}
          />
        </li>
      ))}
    </ul>
  )
}

function AddTargets({ address }: MailboxSectionProps): JSX.Element {
  const form = useForm({
    name: 'targets',
    initial: { targets: '' },
    async submit(written) {
      const targets = splitAddresses(written.targets)
      try {
        await api.post(TARGETS, { params: { address }, body: { targets } })
      } catch (error) {
        throw atFields(error, { targets })
      }
      form.reset()
      invalidate(FORWARDING)
      toast(t('forwarding.asked'))
    },
  })
  return (
    <Form form={form} action={t('setup.add')} needsChange>
      <TextField
        form={form}
        name="targets"
        label={t('forwarding.add')}
        hint={t('forwarding.add-hint')}
      />
    </Form>
  )
}

interface SettingsProps extends MailboxSectionProps {
  readonly enabled: boolean
  readonly keepCopy: boolean
}

function Settings({ address, enabled, keepCopy }: SettingsProps): JSX.Element {
  const form = useForm({
    name: 'forwarding',
    initial: { enabled, keepCopy },
    async submit(body) {
      await api.put(FORWARDING, { params: { address }, body })
      invalidate(FORWARDING)
      toast(t('setup.saved'))
    },
  })
  return (
    <Form form={form} action={t('setup.save')} needsChange>
      <SwitchField form={form} name="enabled" label={t('forwarding.enabled')} />
      <SwitchField form={form} name="keepCopy" label={t('forwarding.keep-copy')} />
    </Form>
  )
}
