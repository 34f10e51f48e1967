import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { invalid, notFound } from '#base/app-error.ts'
import type { GoogleProvider, Pool } from '#identity/pools/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { FederationDeps } from './federation-deps.ts'
import {
  DEFAULT_SCOPES,
  GOOGLE,
  GOOGLE_ISSUER,
  type GoogleInput,
  type ProviderRecord,
  callbackUri,
  callbackUriAt,
  providerSealContext,
  requireIssuer,
  requireScopes,
} from './model.ts'
import { ProviderFault } from './provider-fault.ts'
import {
  type StoredProvider,
  deleteProvider,
  selectProvider,
  selectProviderForUpdate,
  upsertProvider,
} from './queries.ts'

/** A provider with the client's credentials. */
export interface ProviderAccess extends Omit<GoogleProvider, 'enabled'> {
  readonly clientSecret: string
  /** Where it sends browsers back to. */
  readonly redirectUri: string
}

/** The providers of a site's visitors, as the operator configured them. Client secrets are stored sealed. */
export class Providers {
  readonly #deps: FederationDeps

  constructor(deps: FederationDeps) {
    this.#deps = deps
  }

  /** The providers of the data pool; the admin pool has none. */
  async list(site: Site): Promise<readonly ProviderRecord[]> {
    const { data } = await this.#deps.directory.get(site)
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const row = await selectProvider(tx, data.userPoolId)
      return row ? [recordOf(site, data, row)] : []
    })
  }

  /** Configures the provider, or changes what the input names. A secret is never sent to an issuer that it was not given for. */
  async configureGoogle(site: Site, input: GoogleInput): Promise<ProviderRecord> {
    const { data } = await this.#deps.directory.get(site)
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const current = await selectProviderForUpdate(tx, data.userPoolId)
      const settings = merged(input, current)
      const sealedClientSecret =
        input.clientSecret === undefined
          ? keptSecret(settings, current)
          : await this.#seal(tx, data, input.clientSecret)
      const callbackHost = callbackHostOf(data, settings, current)
      const provider = {
        ...settings,
        callbackHost,
        userPoolId: data.userPoolId,
        sealedClientSecret,
      }
      const row = await upsertProvider(tx, provider, this.#deps.clock.now())
      await this.#changed(tx, data, { action: 'configured', issuer: settings.issuer })
      return recordOf(site, data, row)
    })
  }

  /** Accounts keep their identities, but cannot sign in with them. 404 when there is no provider. */
  async removeGoogle(site: Site): Promise<void> {
    const { data } = await this.#deps.directory.get(site)
    await this.#deps.database.withSite(site.siteId, async (tx) => {
      const deleted = await deleteProvider(tx, data.userPoolId)
      if (!deleted) throw notFound('Provider', GOOGLE)
      await this.#changed(tx, data, { action: 'removed' })
    })
  }

  /** A `ProviderFault` when the provider is not configured, or switched off. */
  access(site: Site, pool: Pool): Promise<ProviderAccess> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const row = await selectProvider(tx, pool.userPoolId)
      if (!row?.enabled) throw new ProviderFault('unreachable', 'The provider is switched off')
      const siteKey = await this.#deps.siteKeys.wrapped(tx)
      const secret = this.#deps.sealer.open(
        siteKey,
        providerSealContext(pool.userPoolId),
        row.sealedClientSecret,
      )
      return {
        issuer: row.issuer,
        clientId: row.clientId,
        clientSecret: secret.toString('utf8'),
        scopes: scopesOf(row),
        redirectUri: callbackUriAt(pool, row.callbackHost ?? site.domain),
      }
    })
  }

  async #seal(tx: SiteTx, pool: Pool, secret: string): Promise<Buffer> {
    const siteKey = await this.#deps.siteKeys.wrapped(tx)
    return this.#deps.sealer.seal(
      siteKey,
      providerSealContext(pool.userPoolId),
      Buffer.from(secret),
    )
  }

  async #changed(tx: SiteTx, pool: Pool, detail: Record<string, string>): Promise<void> {
    await this.#deps.events.record(tx, {
      event: 'settings.changed',
      pool: pool.kind,
      actor: 'operator',
      detail: { provider: GOOGLE, ...detail },
    })
    await this.#deps.changes.siteChanged(tx)
  }
}

const scopesOf = ({ scopes }: Pick<StoredProvider, 'scopes'>): string[] =>
  Value.Parse(Type.Array(Type.String()), scopes)

type GoogleSettings = Omit<GoogleProvider, 'clientId'> & { readonly clientId: string | undefined }

const NOTHING_YET: GoogleSettings = {
  issuer: GOOGLE_ISSUER,
  clientId: undefined,
  scopes: DEFAULT_SCOPES,
  enabled: true,
}

function merged(input: GoogleInput, current: StoredProvider | undefined) {
  const base = current ? { ...current, scopes: scopesOf(current) } : NOTHING_YET
  const clientId = input.clientId ?? base.clientId
  if (clientId === undefined) throw invalid('clientId', 'give the client id of the provider')
  return {
    clientId,
    issuer: requireIssuer(input.issuer ?? base.issuer),
    scopes: requireScopes(input.scopes ?? base.scopes),
    enabled: input.enabled ?? base.enabled,
  }
}

function keptSecret(
  { issuer, clientId }: { readonly issuer: string; readonly clientId: string },
  current: StoredProvider | undefined,
): Buffer {
  if (!current) throw invalid('clientSecret', 'give the client secret of the provider')
  if (current.issuer !== issuer || current.clientId !== clientId) {
    throw invalid('clientSecret', 'another issuer or client has a secret of its own: give it too')
  }
  return current.sealedClientSecret
}

/** Another client has been registered with the callback of now. */
const callbackHostOf = (
  pool: Pool,
  { issuer, clientId }: { readonly issuer: string; readonly clientId: string },
  current: StoredProvider | undefined,
): string | null =>
  current?.issuer === issuer && current.clientId === clientId
    ? current.callbackHost
    : new URL(pool.issuer).hostname

const recordOf = (site: Site, pool: Pool, row: StoredProvider): ProviderRecord => ({
  provider: GOOGLE,
  issuer: row.issuer,
  clientId: row.clientId,
  scopes: scopesOf(row),
  enabled: row.enabled,
  redirectUri: callbackUri(pool.issuer),
  redirectUriInUse: callbackUriAt(pool, row.callbackHost ?? site.domain),
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})
