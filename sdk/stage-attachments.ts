import type { Attachment } from './email.ts'
import { CroftError, networkError } from './error.ts'
import { type CallOptions, type ClientOptions, send } from './request.ts'

/** What of the answer of `POST /admin/api/messages/attachments` is used. */
interface Staged {
  readonly attachmentRef: string
  readonly upload: { readonly url: string }
}

/** Uploads files for a message that is about to be sent, and returns their references. */
export async function stageAttachments(
  options: ClientOptions,
  mailbox: string,
  attachments: readonly Attachment[],
  rest: CallOptions,
): Promise<string[]> {
  const refs: string[] = []
  for (const { filename, contentType, contentBase64 } of attachments) {
    const bytes = Uint8Array.from(atob(contentBase64), (letter) => letter.charCodeAt(0))
    const { token, signal } = rest
    const response = await send(options, {
      ...(token !== undefined && { token }),
      ...(signal !== undefined && { signal }),
      method: 'POST',
      path: '/admin/api/messages/attachments',
      body: { mailbox, filename, contentType, size: bytes.length },
    })
    const { attachmentRef, upload } = stagedIn(await response.json(), response)
    await put(options, upload.url, { body: bytes, contentType, signal })
    refs.push(attachmentRef)
  }
  return refs
}

/** The signed URL is the authority: no token goes there. */
async function put(
  { fetch = (url, init) => globalThis.fetch(url, init) }: ClientOptions,
  url: string,
  {
    body,
    contentType,
    signal,
  }: {
    readonly body: Uint8Array<ArrayBuffer>
    readonly contentType: string
    readonly signal: AbortSignal | undefined
  },
): Promise<void> {
  const response = await fetch(url, {
    method: 'PUT',
    body,
    headers: { 'content-type': contentType },
    redirect: 'manual',
    credentials: 'omit',
    ...(signal && { signal }),
  }).catch((cause: unknown) => {
    signal?.throwIfAborted()
    throw networkError(cause)
  })
  const { status, ok } = response
  if (ok) return
  const words = `An attachment could not be uploaded: the store answered ${status}`
  throw new CroftError(words, { code: 'UploadFailed', status })
}

function stagedIn(answer: unknown, { status }: Response): Staged {
  const { attachmentRef, upload }: Partial<Record<keyof Staged, unknown>> = Object(answer)
  const { url }: { url?: unknown } = Object(upload)
  if (typeof attachmentRef === 'string' && typeof url === 'string') {
    return { attachmentRef, upload: { url } }
  }
  const words = 'The answer does not say where to upload an attachment'
  throw new CroftError(words, { code: 'UnexpectedResponse', status })
}
