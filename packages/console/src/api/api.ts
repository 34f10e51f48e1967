import { signal } from '@preact/signals'

import { currentSession } from '#app/session/current-session.ts'
import type { Session } from '#app/session/session.ts'

import { createClient } from '../../../sdk/client.ts'
import { CroftError } from '../../../sdk/error.ts'
import type { AdminClient } from '../../../sdk/route-types.ts'

export interface ApiDeps {
  readonly origin: string
  readonly session: () => Pick<Session, 'accessToken' | 'freshToken'>
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** Whether the last call found no service. A shell shows it. */
export const isOffline = signal(false)

/** Set where the service asks for a recent sign-in. The shell asks the person, and comes back to the place. */
export const needsStepUp = signal(false)

type Call = readonly [path: string, input?: object]
/** Of the client, without the types of its routes. */
type Untyped = (...call: Call) => Promise<unknown>

/** The admin API, typed by the declarations of its routes. A call that the token was refused for is repeated once with a new one. */
export function createApi({ origin, session, fetch }: ApiDeps): AdminClient {
  const send = async (name: keyof AdminClient, token: string, call: Call): Promise<unknown> => {
    const { admin } = createClient({ baseUrl: origin, token, fetch })
    return (admin as Record<keyof AdminClient, Untyped>)[name](...call)
  }
  const sendTwice = async (name: keyof AdminClient, call: Call): Promise<unknown> => {
    const token = await session().accessToken()
    try {
      return await send(name, token, call)
    } catch (error) {
      if (!(error instanceof CroftError && error.status === 401)) throw error
      return send(name, await session().freshToken(token), call)
    }
  }
  const method =
    (name: keyof AdminClient): Untyped =>
    async (...call) => {
      try {
        const answer = await sendTwice(name, call)
        isOffline.value = false
        return answer
      } catch (error) {
        if (error instanceof CroftError) notice(error)
        throw error
      }
    }
  const methods: Record<keyof AdminClient, Untyped> = {
    get: method('get'),
    post: method('post'),
    put: method('put'),
    patch: method('patch'),
    delete: method('delete'),
  }
  return methods as AdminClient
}

function notice({ code }: CroftError): void {
  isOffline.value = code === 'NetworkError'
  if (code === 'RecentSignInRequired') needsStepUp.value = true
}

/** Calls the API of the site as the admin who is signed in. */
export const api: AdminClient = createApi({
  origin: globalThis.location?.origin ?? 'https://console.invalid',
  session: currentSession,
})
