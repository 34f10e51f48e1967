import type { Logger } from '#platform/log/logger.ts'

import type { RequestScope } from './request-scope.ts'

/** One line per request, at its end. */
export class RequestLog {
  readonly #logger: Logger
  readonly #everything: boolean

  constructor(logger: Logger, level: string) {
    this.#logger = logger
    this.#everything = level === 'debug' || level === 'trace'
  }

  /** Operations that answered are counted by `GET /admin/data/usage`; a line each would cost more than the call. */
  write(request: Request, response: Response, scope: RequestScope): void {
    const { requestId, host, path, startedAt } = scope
    const { status } = response
    const operation = path.startsWith('/data/') && status < 500
    if (operation && !this.#everything) return
    const ms = Math.round(performance.now() - startedAt)
    const fields = { requestId, method: request.method, host, path, status, ms }
    if (operation) this.#logger.debug(fields, 'request')
    else this.#logger.info(fields, 'request')
  }
}
