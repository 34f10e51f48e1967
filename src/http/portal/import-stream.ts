import type { ImportProgress, ImportedArchive } from '#archives/archive-imports.ts'
import { AppError } from '#base/app-error.ts'
import type { Logger } from '#platform/log/logger.ts'

const EVERY_MS = 500

interface ImportSource {
  readonly logger: Logger
  readonly load: (onProgress: (progress: ImportProgress) => void) => Promise<ImportedArchive>
}

/** JSON line by line while a site is imported: `progress`, then `imported` or `error`. A client that disconnects ends the import. */
export function importStream({ signal }: Request, { load, logger }: ImportSource): Response {
  const left = new AbortController()
  const ending = AbortSignal.any([signal, left.signal])
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const say = (line: object) => {
        if (!ending.aborted) controller.enqueue(Buffer.from(`${JSON.stringify(line)}\n`))
      }
      let saidAtMs = 0
      // The head of the answer goes out with the first line.
      say({ progress: { objects: 0, rows: 0 } })
      const onProgress = (progress: ImportProgress): void => {
        ending.throwIfAborted()
        if (performance.now() - saidAtMs < EVERY_MS) return
        saidAtMs = performance.now()
        say({ progress })
      }
      load(onProgress)
        .then(
          (imported) => say({ imported }),
          (error: unknown) => {
            if (!ending.aborted) say({ error: failureOf(error, logger) })
          },
        )
        .finally(() => {
          if (!ending.aborted) controller.close()
        })
    },
    cancel: () => left.abort(),
  })
  const headers = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' }
  return new Response(stream, { headers })
}

/** The status is sent already. */
function failureOf(error: unknown, logger: Logger): object {
  if (error instanceof AppError) return { code: error.code, message: error.message }
  logger.error({ err: error }, 'a site was not imported')
  return { code: 'InternalError', message: 'Something went wrong on our side' }
}
