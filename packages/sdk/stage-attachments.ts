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
  for (const file of attachments) refs.push(await stage(options, mailbox, file, rest))
  return refs
}

/** The same of a whole message, in base64. */
export function stageRaw(
  options: ClientOptions,
  mailbox: string,
  contentBase64: string,
  rest: CallOptions,
): Promise<string> {
  const file = { filename: 'message.eml', contentType: 'message/rfc822', contentBase64 }
  return stage(options, mailbox, file, rest)
}

async function stage(
  options: ClientOptions,
  mailbox: string,
  { filename, contentType, contentBase64 }: Attachment,
  { token, signal }: CallOptions,
): Promise<string> {
  const bytes = decoded(contentBase64)
  const response = await send(options, {
    ...(token !== undefined && { token }),
    ...(signal !== undefined && { signal }),
    method: 'POST',
    path: '/admin/api/messages/attachments',
    body: { mailbox, filename, contentType, size: bytes.length },
  })
  const { attachmentRef, upload } = stagedIn(await response.json(), response)
  await put(options, upload.url, { body: bytes, contentType, signal })
  return attachmentRef
}

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
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
    throw networkError(cause, url)
  })
  const { status, ok } = response
  if (ok) return
  const words = `A file could not be uploaded: the store answered ${status}`
  throw new CroftError(words, { code: 'UploadFailed', status })
}

function stagedIn(answer: unknown, { status }: Response): Staged {
  const { attachmentRef, upload }: Partial<Record<keyof Staged, unknown>> = Object(answer)
  const { url }: { url?: unknown } = Object(upload)
  if (typeof attachmentRef === 'string' && typeof url === 'string') {
    return { attachmentRef, upload: { url } }
  }
  const words = 'The answer does not say where to upload a file'
  throw new CroftError(words, { code: 'UnexpectedResponse', status })
}
