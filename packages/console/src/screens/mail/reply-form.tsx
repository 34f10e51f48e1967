import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'

import { api } from '#app/api/api.ts'
import { exactTime } from '#app/components/time.tsx'
import { SwitchField, TextField } from '#app/forms/fields.tsx'
import { Form, useForm } from '#app/forms/form.tsx'
import { currentQuery } from '#app/router/router.ts'

import { AttachedFiles } from './attached-files.tsx'
import { atFields } from './compose-errors.ts'
import { citedText, replyNames, splitAddresses } from './mail-names.ts'
import type { OpenMessage } from './open-message.ts'
import { SendingKeys } from './sending-keys.ts'
import { showSent } from './show-sent.ts'
import { type StagedFile, useStaging } from './staging.ts'
import { t } from './texts.ts'

type Reply = {
  readonly replyAll: boolean
  readonly cc: string
  readonly body: string
  readonly files: readonly StagedFile[]
}

export interface ReplyFormProps {
  readonly message: OpenMessage
}

export function ReplyForm({ message }: ReplyFormProps): JSX.Element {
  const { id, mailbox } = message
  const keys = useMemo(() => new SendingKeys(), [])
  const form = useForm<Reply>({
    name: `reply ${id}`,
    initial: useMemo(() => emptyReply(message), [id]),
    async submit(reply) {
      staging.requireDone()
      showSent(await send(id, reply, keys))
    },
  })
  const staging = useStaging(() => mailbox, {
    added: (file) => form.set('files', [...form.values.peek().files, file]),
  })
  const { replyAll, files } = form.values.value
  const hasMore = replyNames(message, true).length > replyNames(message, false).length
  return (
    <div class="section compose">
      <Form form={form} action={t('compose.send')}>
        <dl class="facts">
          <dt>{t('message.from')}</dt>
          <dd>{mailbox}</dd>
          <dt>{t('message.to')}</dt>
          <dd>{replyNames(message, replyAll).join(', ')}</dd>
        </dl>
        {hasMore && <SwitchField form={form} name="replyAll" label={t('message.reply-all')} />}
        <TextField form={form} name="cc" label={t('compose.add-cc')} hint={t('compose.to-hint')} />
        <TextField form={form} name="body" rows={16} label={t('compose.text')} />
        <AttachedFiles
          staging={staging}
          files={files}
          onChange={(rest) => form.set('files', rest)}
        />
      </Form>
    </div>
  )
}

/** Room to write, then what is answered. */
function emptyReply({ text, from, receivedAt }: OpenMessage): Reply {
  const intro = t('compose.cited', { date: exactTime(new Date(receivedAt)), name: from })
  const body = text.trim() === '' ? '' : `\n\n${intro}\n${citedText(text)}\n`
  return { replyAll: currentQuery.peek().has('all'), cc: '', body, files: [] }
}

async function send(messageId: string, written: Reply, keys: SendingKeys): Promise<string> {
  const { replyAll, body, files } = written
  const cc = splitAddresses(written.cc)
  const reply = {
    body,
    ...(replyAll && { replyAll }),
    ...(cc.length > 0 && { cc }),
    ...(files.length > 0 && { attachmentRefs: files.map(({ ref }) => ref) }),
  }
  try {
    const call = { params: { messageId }, body: reply, idempotencyKey: keys.of(reply) }
    return (await api.post('/admin/api/messages/{messageId}/reply', call)).id
  } catch (error) {
    throw atFields(error, { cc })
  }
}
