import { text } from 'node:stream/consumers'

import { type Listener, listen } from '#test/listener.ts'

export interface Recorded {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export interface Prepared {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, unless it is text. */
  readonly body?: unknown
}

/** Stands in for a service: keeps what it is sent, and gives the prepared answers, the last of them repeatedly. */
export class RecordingService implements AsyncDisposable {
  readonly requests: Recorded[] = []
  readonly #listener: Listener
  readonly #answers: Prepared[]

  static async start(...answers: Prepared[]): Promise<RecordingService> {
    let service: RecordingService | undefined
    const listener = await listen(() => async (request, response) => {
      const { method, url, headers } = request
      service?.requests.push({ method, url, headers, body: await text(request) })
      const { status = 200, headers: extra, body } = service?.next() ?? {}
      response.writeHead(status, { 'content-type': 'application/json', ...extra })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
    service = new RecordingService(listener, answers)
    return service
  }

  private constructor(listener: Listener, answers: Prepared[]) {
    this.#listener = listener
    this.#answers = answers
  }

  get origin(): string {
    return this.#listener.origin
  }

  next(): Prepared | undefined {
    return this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0]
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#listener[Symbol.asyncDispose]()
  }
}
