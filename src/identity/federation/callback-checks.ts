import { type Static, Type } from '@sinclair/typebox'

import { notFound } from '#base/app-error.ts'
import type { Site } from '#sites/site.ts'

import type { FederationDeps } from './federation-deps.ts'
import { GOOGLE, callbackUri } from './model.ts'
import type { ProviderClient } from './provider-client.ts'
import { ProviderFault } from './provider-fault.ts'
import type { Providers } from './providers.ts'
import { updateCallbackHost } from './queries.ts'

/** Whether the provider knows the callback at the issuer of now; sign-ins use it from then on. */
export const CallbackCheck = Type.Object({
  redirectUri: Type.String(),
  /** Null where the provider's response says neither. */
  registered: Type.Union([Type.Boolean(), Type.Null()]),
})
export type CallbackCheck = Static<typeof CallbackCheck>

/** Asks the provider of a site whose sign-in has moved for the callback there, and changes over to it once it is registered. */
export class CallbackChecks {
  readonly #deps

  constructor(
    deps: FederationDeps & {
      readonly providers: Providers
      readonly client: ProviderClient
    },
  ) {
    this.#deps = deps
  }

  /** 404 where no provider is on. */
  async check(site: Site): Promise<CallbackCheck> {
    const { data } = await this.#deps.directory.get(site)
    if (data.google?.enabled !== true) throw notFound('Provider', GOOGLE)
    const access = await this.#deps.providers.access(site, data)
    const redirectUri = callbackUri(data.issuer)
    if (access.redirectUri === redirectUri) return { redirectUri, registered: true }
    const registered = await this.#isRegistered({ ...access, redirectUri })
    if (registered === true) await this.#changeOver(site, data.userPoolId, redirectUri)
    return { redirectUri, registered: registered ?? null }
  }

  async #isRegistered(access: Parameters<ProviderClient['knowsCallback']>[0]) {
    const { client, ids } = this.#deps
    try {
      return await client.knowsCallback(access, {
        state: ids.secret(),
        nonce: ids.secret(),
        verifier: ids.secret(),
      })
    } catch (error) {
      if (error instanceof ProviderFault) return undefined
      throw error
    }
  }

  #changeOver(site: Site, userPoolId: string, redirectUri: string): Promise<void> {
    const { database, events, changes } = this.#deps
    return database.withSite(site.siteId, async (tx) => {
      await updateCallbackHost(tx, userPoolId, new URL(redirectUri).hostname)
      await events.record(tx, {
        event: 'settings.changed',
        pool: 'data',
        actor: 'operator',
        detail: { provider: GOOGLE, action: 'callback', redirectUri },
      })
      await changes.siteChanged(tx)
    })
  }
}
