import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'

import { api } from '#app/api/api.ts'
import { problemOf } from '#app/api/problem.ts'

import { objectUrl } from './object-url.ts'
import { t } from './texts.ts'

/** A file that the service has, for a message that is not sent yet. */
export interface StagedFile {
  readonly ref: string
  readonly filename: string
  readonly size: number
}

/** A file on its way, or one that did not get there. */
export interface Upload {
  readonly id: number
  readonly filename: string
  readonly size: number
  /** 0 to 1. */
  readonly progress: number
  readonly problem: string | undefined
}

export interface Staging {
  readonly uploads: Signal<readonly Upload[]>
  readonly add: (files: Iterable<File>) => void
  /** Stops the upload. */
  readonly remove: (id: number) => void
  /** Throws while files are on their way: a message without them is not what the person means. */
  readonly requireDone: () => void
}

export interface StagingDeps {
  readonly added: (file: StagedFile) => void
}

let lastId = 0

/** Uploads files for a message from a mailbox. */
export function useStaging(mailbox: () => string, { added }: StagingDeps): Staging {
  const uploads = useSignal<readonly Upload[]>([])
  const stops = useMemo(() => new Map<number, AbortController>(), [])
  useEffect(() => () => stops.forEach((stop) => stop.abort()), [])
  const change = (id: number, changed: Partial<Upload>) => {
    uploads.value = uploads.peek().map((one) => (one.id === id ? { ...one, ...changed } : one))
  }
  const remove = (id: number) => {
    stops.get(id)?.abort()
    stops.delete(id)
    uploads.value = uploads.peek().filter((one) => one.id !== id)
  }
  const start = async (file: File) => {
    const id = ++lastId
    const stop = new AbortController()
    stops.set(id, stop)
    const { name: filename, size } = file
    uploads.value = [...uploads.peek(), { id, filename, size, progress: 0, problem: undefined }]
    const onProgress = (progress: number) => change(id, { progress })
    try {
      const ref = await stageFile(mailbox(), file, { signal: stop.signal, onProgress })
      if (!stops.has(id)) return
      remove(id)
      added({ ref, filename, size })
    } catch (error) {
      change(id, { problem: problemOf(error).message })
    }
  }
  return {
    uploads,
    remove,
    add: (files) => {
      for (const file of files) void start(file)
    },
    requireDone: () => {
      if (uploads.peek().length > 0) throw new Error(t('compose.wait'))
    },
  }
}

interface Progress {
  readonly signal: AbortSignal
  readonly onProgress: (progress: number) => void
}

async function stageFile(mailbox: string, file: File, progress: Progress): Promise<string> {
  const contentType = file.type || 'application/octet-stream'
  const { attachmentRef, upload } = await api.post('/admin/api/messages/attachments', {
    body: { mailbox, filename: file.name, contentType, size: file.size },
    signal: progress.signal,
  })
  await put(upload, file, progress)
  return attachmentRef
}

/** `fetch` does not say how much is sent. The signed address is the authority: no token goes there. */
function put(
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  file: File,
  { signal, onProgress }: Progress,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const fail = () => reject(new Error(t('compose.upload-failed', { name: file.name })))
    request.open('PUT', objectUrl(url, location.origin))
    for (const [name, value] of Object.entries(headers)) {
      // Browsers write these themselves.
      if (!/^(?:content-length|host)$/i.test(name)) request.setRequestHeader(name, value)
    }
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / total))
    request.addEventListener('load', () => (request.status < 300 ? resolve() : fail()))
    request.addEventListener('error', fail)
    request.addEventListener('abort', fail)
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}
