import { CroftError } from './error.ts'
import { type Call, type CallOptions, type ClientOptions, send } from './request.ts'
import type { AdminClient } from './route-types.ts'

// What a package exports is what its entry exports.
export { CroftError } from './error.ts'
export { type ListPage, paginate } from './paginate.ts'
export type { AdminRoutes } from './admin-routes.ts'
export type { CallOptions, ClientOptions, Token } from './request.ts'
export type { AdminClient } from './route-types.ts'

export interface Client {
  /** Calls an operation of the site as the visitor whose token it is: `POST /data/{operation}`. Resolves with its data. */
  data<Output = unknown>(operation: string, input?: unknown, options?: CallOptions): Promise<Output>
  /** Calls a public operation, never with a token: `POST /data/public/{operation}`. */
  publicData<Output = unknown>(
    operation: string,
    input?: unknown,
    options?: Omit<CallOptions, 'token'>,
  ): Promise<Output>
  /** The admin API, with an admin's token. An answer that is not JSON is the `Response` itself, without content undefined. */
  readonly admin: AdminClient
}

/**
 * A client of one site. Every error is a `CroftError`, except for an abort, which rejects with the signal's reason, and errors
 * that a token function throws.
 */
export function createClient(options: ClientOptions): Client {
  const method =
    (name: string) =>
    async (path: string, input: Partial<Call> = {}) =>
      contentOf(await send(options, { ...input, method: name, path }), input.signal)
  const admin: Record<keyof AdminClient, ReturnType<typeof method>> = {
    get: method('GET'),
    post: method('POST'),
    put: method('PUT'),
    patch: method('PATCH'),
    delete: method('DELETE'),
  }
  return {
    data: <Output>(name: string, input?: unknown, rest: CallOptions = {}) =>
      operation(options, '/data/{operation}', [name, input], rest) as Promise<Output>,
    publicData: <Output>(name: string, input?: unknown, rest: CallOptions = {}) =>
      operation({ ...options, token: undefined }, '/data/public/{operation}', [name, input], {
        ...rest,
        token: undefined,
      }) as Promise<Output>,
    admin: admin as AdminClient,
  }
}

async function operation(
  options: ClientOptions,
  path: string,
  [name, payload]: readonly [string, unknown],
  rest: CallOptions,
): Promise<unknown> {
  const call = { ...rest, method: 'POST', path, params: { operation: name }, body: { payload } }
  const response = await send(options, call)
  const answer = await contentOf(response, rest.signal)
  if (typeof answer === 'object' && answer !== null && 'data' in answer) return answer.data
  throw unexpected(response)
}

async function contentOf(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  if (response.status === 204) return undefined
  if (!response.headers.get('content-type')?.startsWith('application/json')) return response
  try {
    return await response.json()
  } catch (error) {
    signal?.throwIfAborted()
    throw error instanceof SyntaxError ? unexpected(response) : endedEarly(error)
  }
}

const endedEarly = (cause: unknown): CroftError =>
  new CroftError('The response ended early', { code: 'NetworkError', status: 0, cause })

const unexpected = ({ status }: Response): CroftError =>
  new CroftError('The answer is not that of a Croft service', {
    code: 'UnexpectedResponse',
    status,
  })
