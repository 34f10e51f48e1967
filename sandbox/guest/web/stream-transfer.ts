import { DOMException } from './dom-exception.ts'
import { ReadableStream, TransformStream, WritableStream } from './streams.ts'
import { cloneAndTransfer, provideTransferable } from './structured-clone.ts'
import type { Transfer } from './structured-clone.ts'

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>
  cancel(reason: unknown): Promise<void>
}

type Writer = ReturnType<WritableStream['getWriter']>

provideTransferable({ begin: beginTransfer })

/**
 * https://streams.spec.whatwg.org/#rs-transfer: a stream that arrives reads from the one that was sent, or writes to it,
 * and each chunk is cloned on the way.
 */
function beginTransfer(value: object): Transfer | undefined {
  if (value instanceof ReadableStream) return beginReadable(value)
  if (value instanceof WritableStream) return beginWritable(value)
  return value instanceof TransformStream ? beginTransform(value) : undefined
}

function beginReadable(stream: ReadableStream): Transfer {
  requireUnlocked(stream)
  let reader: Reader | undefined
  const received = new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
        if (done) controller.close()
        else controller.enqueue(cloneAndTransfer(value, []).value)
      },
      cancel: async (reason) => await reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  const commit = (): void => {
    reader = stream.getReader()
  }
  return { received, commit }
}

function beginWritable(stream: WritableStream): Transfer {
  requireUnlocked(stream)
  let writer: Writer | undefined
  const received = new WritableStream({
    write: async (chunk) => await writer?.write(cloneAndTransfer(chunk, []).value),
    close: async () => await writer?.close(),
    abort: async (reason) => await writer?.abort(reason),
  })
  const commit = (): void => {
    writer = stream.getWriter()
  }
  return { received, commit }
}

/** Its two ends; what arrives is a pair of them under the class of the whole. */
function beginTransform(stream: TransformStream): Transfer {
  const readable = beginReadable(stream.readable)
  const writable = beginWritable(stream.writable)
  const received = new TransformStream()
  Object.defineProperty(received, 'readable', { value: readable.received })
  Object.defineProperty(received, 'writable', { value: writable.received })
  const commit = (): void => {
    readable.commit()
    writable.commit()
  }
  return { received, commit }
}

function requireUnlocked(stream: ReadableStream | WritableStream): void {
  if (stream.locked)
    throw new DOMException('A locked stream cannot be transferred', 'DataCloneError')
}
