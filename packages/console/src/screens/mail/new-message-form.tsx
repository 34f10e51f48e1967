import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'

import { api } from '#app/api/api.ts'
import { Button } from '#app/components/button.tsx'
import { SelectField, TextField } from '#app/forms/fields.tsx'
import { Form, type FormState, useForm } from '#app/forms/form.tsx'
import { currentQuery } from '#app/router/router.ts'
import { currentSession } from '#app/session/current-session.ts'

import { AttachedFiles } from './attached-files.tsx'
import { atFields } from './compose-errors.ts'
import { splitAddresses } from './mail-names.ts'
import { SendingKeys } from './sending-keys.ts'
import { showSent } from './show-sent.ts'
import { type StagedFile, useStaging } from './staging.ts'
import { t } from './texts.ts'

type NewMessage = {
  readonly mailbox: string
  readonly to: string
  readonly cc: string
  readonly bcc: string
  readonly subject: string
  readonly body: string
  readonly files: readonly StagedFile[]
}

export interface NewMessageFormProps {
  /** That the person may send from. */
  readonly mailboxes: readonly string[]
}

export function NewMessageForm({ mailboxes }: NewMessageFormProps): JSX.Element {
  const keys = useMemo(() => new SendingKeys(), [])
  const form = useForm<NewMessage>({
    name: 'compose',
    initial: useMemo(() => emptyMessage(mailboxes), []),
    async submit(message) {
      staging.requireDone()
      showSent(await send(message, keys))
    },
  })
  const staging = useStaging(() => form.values.peek().mailbox, {
    added: (file) => form.set('files', [...form.values.peek().files, file]),
  })
  const { files } = form.values.value
  return (
    <div class="section compose">
      <Form form={form} action={t('compose.send')}>
        {mailboxes.length > 1 && files.length === 0 && (
          <SelectField
            form={form}
            name="mailbox"
            label={t('message.from')}
            choices={mailboxes.map((address) => ({ value: address, label: address }))}
          />
        )}
        <Recipients form={form} />
        <TextField form={form} name="subject" maxLength={998} label={t('compose.subject')} />
        <TextField form={form} name="body" rows={14} label={t('compose.text')} />
        <AttachedFiles
          staging={staging}
          files={files}
          onChange={(rest) => form.set('files', rest)}
        />
      </Form>
    </div>
  )
}

function Recipients({ form }: { readonly form: FormState<NewMessage> }): JSX.Element {
  const isLong = useSignal(false)
  const { cc, bcc } = form.values.value
  return (
    <>
      <TextField
        form={form}
        name="to"
        required
        label={t('message.to')}
        hint={t('compose.to-hint')}
      />
      {isLong.value || cc !== '' || bcc !== '' ? (
        <>
          <TextField form={form} name="cc" label={t('message.cc')} />
          <TextField form={form} name="bcc" label={t('compose.bcc')} hint={t('compose.bcc-hint')} />
        </>
      ) : (
        <p>
          <Button icon="add" onClick={() => (isLong.value = true)}>
            {t('compose.more')}
          </Button>
        </p>
      )}
    </>
  )
}

/** From the mailbox that the address names, or the person's own. */
function emptyMessage(mailboxes: readonly string[]): NewMessage {
  const query = currentQuery.peek()
  const own = currentSession().account.peek()?.email
  const mailbox = [query.get('from'), own, mailboxes[0]].find(
    (one) => one && mailboxes.includes(one),
  )
  const to = query.get('to') ?? ''
  return { mailbox: mailbox ?? '', to, cc: '', bcc: '', subject: '', body: '', files: [] }
}

async function send(written: NewMessage, keys: SendingKeys): Promise<string> {
  const { mailbox, subject, body, files } = written
  const to = splitAddresses(written.to)
  const cc = splitAddresses(written.cc)
  const bcc = splitAddresses(written.bcc)
  const message = {
    mailbox,
    to,
    ...(cc.length > 0 && { cc }),
    ...(bcc.length > 0 && { bcc }),
    subject,
    body,
    ...(files.length > 0 && { attachmentRefs: files.map(({ ref }) => ref) }),
  }
  try {
    const call = { body: message, idempotencyKey: keys.of(message) }
    return (await api.post('/admin/api/messages/send', call)).id
  } catch (error) {
    throw atFields(error, { to, cc, bcc })
  }
}
