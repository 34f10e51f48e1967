import { useEffect } from 'preact/hooks'

import { api } from '#app/api/api.ts'
import { invalidate } from '#app/api/resources.ts'

/** Changes within this time are read together. */
const GATHER_MS = 300
const FIRST_PAUSE_MS = 2000
const LONGEST_PAUSE_MS = 60_000

/** Reads messages again when the service says that a mailbox changed. Without a connection it reads them from time to time. */
export function useMailChanges(mailbox: string | undefined): void {
  useEffect(() => {
    let stop = new AbortController()
    const start = () => {
      stop.abort()
      stop = new AbortController()
      if (document.visibilityState === 'visible') void followMail(mailbox, stop.signal)
    }
    start()
    // A tab in the background holds no connection.
    document.addEventListener('visibilitychange', start)
    return () => {
      document.removeEventListener('visibilitychange', start)
      stop.abort()
    }
  }, [mailbox])
}

async function followMail(mailbox: string | undefined, signal: AbortSignal): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS
  while (!signal.aborted) {
    try {
      const response = await api.get('/admin/api/messages/stream', { query: { mailbox }, signal })
      const gathered = gather(signal)
      for await (const event of eventNames(response)) {
        pauseMs = FIRST_PAUSE_MS
        if (event === 'change') gathered()
      }
    } catch {
      // The pause follows: what was missed is read after it.
    }
    await pause(pauseMs, signal)
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    if (!signal.aborted) readMessages()
  }
}

const readMessages = (): void => invalidate('/admin/api/messages')

function gather(signal: AbortSignal): () => void {
  let isWaiting = false
  return () => {
    if (isWaiting) return
    isWaiting = true
    void pause(GATHER_MS, signal).then(() => {
      isWaiting = false
      if (!signal.aborted) readMessages()
    })
  }
}

/** The names of the events of a stream of `text/event-stream`, as they come. */
export async function* eventNames(response: Response): AsyncGenerator<string, void, undefined> {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const lines = (rest + read.value).split(/\r?\n/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('event:')) yield line.slice('event:'.length).trim()
    }
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
